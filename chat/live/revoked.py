"""Whose session is over, or whose conversation is gone, watches no longer, from that moment on.

Web processes tell each other over one short stream in Redis, and each asks the database anew for
the pages that it concerns; what is told only says where to look. Where Redis is away, each page is
looked at every half minute all the same.
"""

import asyncio
import hashlib
import logging
from functools import partial
from typing import Protocol
from weakref import WeakKeyDictionary

from redis.exceptions import RedisError

from chat.live.errands import errands
from chat.live.reader import Entry, reader
from chat.live.streams import StreamId, quick_client

logger = logging.getLogger(__name__)

KEY = "revoked"
KEPT_SECONDS = 60
MOST_TOLD = 1_000


class Watcher(Protocol):
    """A page that somebody watches."""

    def look_again(self) -> None:
        """Find out whether they still may."""
        ...


def session(key: str) -> str:
    """Return how a session is called here; its own key, which signs in, is told to nobody."""
    return f"session:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def person(number: int) -> str:
    """Return how a person is called here."""
    return f"person:{number}"


def conversation(number: int) -> str:
    """Return how a conversation is called here."""
    return f"conversation:{number}"


def revoke(name: str) -> None:
    """Have all pages of a session, a person or a conversation looked at again, soon."""
    errands().add(partial(_tell, name))


class Doors:
    """The pages that this process shows, by the names under which they are looked at again."""

    key = KEY
    cursor = StreamId(0, 0)

    def __init__(self) -> None:
        self._watchers: dict[str, set[Watcher]] = {}

    async def take(self, entries: list[Entry]) -> None:
        """Look again at the pages of whom it was told."""
        for name in {entry.mark for entry in entries}:
            for watcher in tuple(self._watchers.get(name, ())):
                watcher.look_again()

    def recover(self) -> None:
        """Do nothing: all pages at once would be too much, and each has its half minute."""

    def admit(self, watcher: Watcher, name: str) -> int:
        """Note a page under a name, and return how many there are of it."""
        if not self._watchers:
            reader().follow(self)
        self._watchers.setdefault(name, set()).add(watcher)
        return len(self._watchers[name])

    async def leave(self, watcher: Watcher, names: list[str]) -> None:
        """Forget a page."""
        for name in names:
            watchers = self._watchers.get(name, set())
            watchers.discard(watcher)
            if not watchers:
                self._watchers.pop(name, None)
        if not self._watchers:
            await reader().leave(self)


def _tell(name: str) -> None:
    try:
        pipeline = quick_client().pipeline(transaction=False)
        pipeline.xadd(KEY, {"d": "", "of": name}, maxlen=MOST_TOLD, approximate=True)
        pipeline.expire(KEY, KEPT_SECONDS)
        pipeline.execute()
    except RedisError as error:
        logger.warning("Pages learn within half a minute that they are over: %s", error)


_doors: "WeakKeyDictionary[asyncio.AbstractEventLoop, Doors]" = WeakKeyDictionary()


def doors() -> Doors:
    """Return those of the running event loop."""
    return _doors.setdefault(asyncio.get_running_loop(), Doors())
