"""The pages that this process shows, looked at again when a right to watch may have ended."""

import asyncio
from typing import Protocol
from weakref import WeakKeyDictionary

from chat.live.reader import Entry, reader
from chat.stream.revoked import KEY
from chat.stream.streams import StreamId


class Watcher(Protocol):
    """A page that somebody watches."""

    def look_again(self) -> None:
        """Find out whether they still may."""
        ...


class Doors:
    """The pages that this process shows, by the names under which they are looked at again."""

    key = KEY
    cursor = StreamId(0, 0)

    def __init__(self) -> None:
        self._watchers: dict[str, set[Watcher]] = {}

    async def deliver(self, entries: list[Entry]) -> None:
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


_doors: "WeakKeyDictionary[asyncio.AbstractEventLoop, Doors]" = WeakKeyDictionary()


def doors() -> Doors:
    """Return those of the running event loop."""
    return _doors.setdefault(asyncio.get_running_loop(), Doors())
