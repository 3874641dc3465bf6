"""Slots: how many calls may be under way at once, first come, first served.

A quota is what calls share: a provider's limit, or the one local machine. `InProcessSlots` holds
the limit for one process; whoever runs several gives a Slots of their own that all of them see.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from typing import NamedTuple, Protocol

from agents.control import Control
from agents.errors import ProviderLimited, SlotTaken
from agents.model.delays import may_wait
from agents.waiting import SLICE

MAX_PAUSE = 600.0
"""Seconds after which a server is asked again, however much patience it wanted."""
UNTOLD = 0.3
"""Seconds of waiting that are not worth telling the person who watches the run."""


class Quota(NamedTuple):
    """What calls share, and how one of them waits: a name, how many go at once, for which model.

    In a quota with a `model`, calls for another one wait until there are none for it. The calls of
    a quota to one `server` are paused together. A call that `gives_way` waits for all that do not,
    also for those that came later.
    """

    name: str
    limit: int
    model: str = ""
    server: str = ""
    gives_way: bool = False


class Slots(Protocol):
    """A place for each call under way; safe to share between threads."""

    def acquire(self, quota: Quota, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, when all who come before have theirs.

        A wait that lasts is told to the run's control, and so is its end. Raises SlotTaken at once
        with `wait` false, and what `control.check` raises within a second of the halt; then the
        place in the queue is given up.
        """
        ...

    def pause(self, quota: Quota, seconds: float) -> None:
        """Give no slot for the quota's server for so long; other servers are not affected.

        A call that would have to wait longer than is worth it then raises ProviderLimited.
        """
        ...

    def renew(self, quota: Quota, ticket: str) -> None:
        """Say that the call of a ticket is still under way."""
        ...

    def release(self, quota: Quota, ticket: str) -> None:
        """Give a slot back; a ticket that holds none changes nothing."""
        ...


@dataclass
class _SlotQueue:
    """The calls of one quota: those that wait, in order, and those under way, each with a model."""

    waiting: dict[str, Quota]
    held: dict[str, str]

    def ahead(self, ticket: str, paused: Collection[str]) -> int:
        """Return how many calls come before the ticket's, those to a paused server left out."""
        in_order = sorted(self.waiting, key=lambda one: self.waiting[one].gives_way)
        before = takewhile(lambda one: one != ticket, in_order)
        return sum(self.waiting[one].server not in paused for one in before)

    def admits(self, ticket: str, quota: Quota, paused: Collection[str]) -> bool:
        """Tell whether the ticket may go: it is first, there is room, and the model is the one."""
        is_first = self.ahead(ticket, paused) == 0
        fits = all(model == quota.model for model in self.held.values())
        return is_first and len(self.held) < quota.limit and fits


class InProcessSlots:
    """Hold the limits of one process; a call that ends with its thread is its holder's affair."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: dict[str, _SlotQueue] = {}
        self._tickets = map(str, count(1))
        self._paused: dict[tuple[str, str], float] = {}

    def acquire(self, quota: Quota, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, waiting for it in the queue."""
        with self._changed:
            ticket = next(self._tickets)
            line = self._lines.setdefault(quota.name, _SlotQueue({}, {}))
            line.waiting[ticket] = quota
            try:
                control.check()
                with telling(control) as tell:
                    while not self._admits(line, ticket, quota, control):
                        if not wait:
                            raise taken(quota, next(iter(line.held.values()), ""))
                        paused = self._servers_paused(quota)
                        tell(line.ahead(ticket, paused), is_paused=quota.server in paused)
                        self._changed.wait(max(0.0, min(SLICE, control.remaining())))
                        control.safe_point()
                line.held[ticket] = quota.model
                return ticket
            finally:
                del line.waiting[ticket]
                self._changed.notify_all()

    def waiting(self, quota: Quota) -> int:
        """Return how many calls are queued."""
        with self._changed:
            return len(self._lines[quota.name].waiting) if quota.name in self._lines else 0

    def pause(self, quota: Quota, seconds: float) -> None:
        """Give no slot for the quota's server for so long."""
        with self._changed:
            until = time.monotonic() + min(seconds, MAX_PAUSE)
            key = quota.name, quota.server
            self._paused[key] = max(until, self._paused.get(key, 0.0))

    def renew(self, quota: Quota, ticket: str) -> None:
        """Do nothing: a slot of this process lives as long as the process."""

    def release(self, quota: Quota, ticket: str) -> None:
        """Give a slot back and let the next in the queue know."""
        with self._changed:
            self._lines[quota.name].held.pop(ticket, None)
            self._changed.notify_all()

    def _admits(self, line: _SlotQueue, ticket: str, quota: Quota, control: Control) -> bool:
        left = self._paused.get((quota.name, quota.server), 0.0) - time.monotonic()
        if left > 0:
            check_pause(quota, left, control)
            return False
        return line.admits(ticket, quota, self._servers_paused(quota))

    def _servers_paused(self, quota: Quota) -> set[str]:
        now = time.monotonic()
        return {
            server
            for (name, server), until in self._paused.items()
            if name == quota.name and until > now
        }


def check_pause(quota: Quota, seconds: float, control: Control) -> None:
    """Raise ProviderLimited where the rest of a pause is longer than a call may wait."""
    if not may_wait(seconds, control):
        raise ProviderLimited(
            f"The model server at {quota.server or quota.name} wants no calls for another "
            f"{math.ceil(seconds)} seconds.",
            retry_after=seconds,
        )


@contextmanager
def telling(control: Control) -> Iterator[Callable[..., None]]:
    """Give what tells a run how many calls are ahead of its own, or that its server has paused.

    At the end it is told that nothing is in its way any more.
    """
    began = time.monotonic()

    def tell(ahead: int, *, is_paused: bool = False) -> None:
        if time.monotonic() - began < UNTOLD:
            return
        if is_paused:
            control.tell_paused()
        else:
            control.tell_waiting(ahead)

    try:
        yield tell
    finally:
        control.tell_waiting(None)


def taken(quota: Quota, model: str) -> SlotTaken:
    """Return the error of a quota without a free slot; `model` is what holds it."""
    return SlotTaken(f"All {quota.limit} places for calls to {quota.name} are taken.", model=model)
