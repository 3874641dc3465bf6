"""Slots: how many calls may be under way at once, first come, first served.

A lane is what calls share: a provider's limit, or the one local machine. `InProcessSlots` holds the
limit for one process; whoever runs several gives a Slots of their own that all of them see.
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


class Lane(NamedTuple):
    """What calls share: a name, how many go at once, and for which model.

    In a lane with a `model`, calls for another one wait until there are none for it. The calls of
    a lane to one `server` are paused together.
    """

    name: str
    limit: int
    model: str = ""
    server: str = ""


class Slots(Protocol):
    """A place for each call under way; safe to share between threads."""

    def acquire(self, lane: Lane, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, when all who came before have theirs.

        A wait that lasts is told to the run's control, and so is its end. Raises SlotTaken at once
        with `wait` false, and what `control.check` raises within a second of the halt; then the
        place in the queue is given up.
        """
        ...

    def pause(self, lane: Lane, seconds: float) -> None:
        """Give no slot for the lane's server for so long; other servers are not affected.

        A call that would have to wait longer than is worth it then raises ProviderLimited.
        """
        ...

    def renew(self, lane: Lane, ticket: str) -> None:
        """Say that the call of a ticket is still under way."""
        ...

    def release(self, lane: Lane, ticket: str) -> None:
        """Give a slot back; a ticket that holds none changes nothing."""
        ...


@dataclass
class _SlotQueue:
    """The calls of one lane: those that wait, in order, and those under way, each with a model."""

    waiting: dict[str, Lane]
    held: dict[str, str]

    def ahead(self, ticket: str, paused: Collection[str]) -> int:
        """Return how many calls come before the ticket's, those to a paused server left out."""
        before = takewhile(lambda one: one != ticket, self.waiting)
        return sum(self.waiting[one].server not in paused for one in before)

    def admits(self, ticket: str, lane: Lane, paused: Collection[str]) -> bool:
        """Tell whether the ticket may go: it is first, there is room, and the model is the one."""
        is_first = self.ahead(ticket, paused) == 0
        fits = all(model == lane.model for model in self.held.values())
        return is_first and len(self.held) < lane.limit and fits


class InProcessSlots:
    """Hold the limits of one process; a call that ends with its thread is its holder's affair."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: dict[str, _SlotQueue] = {}
        self._tickets = map(str, count(1))
        self._paused: dict[tuple[str, str], float] = {}

    def acquire(self, lane: Lane, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, waiting for it in the queue."""
        with self._changed:
            ticket = next(self._tickets)
            line = self._lines.setdefault(lane.name, _SlotQueue({}, {}))
            line.waiting[ticket] = lane
            try:
                control.check()
                with telling(control) as tell:
                    while not self._admits(line, ticket, lane, control):
                        if not wait:
                            raise taken(lane, next(iter(line.held.values()), ""))
                        paused = self._servers_paused(lane)
                        tell(line.ahead(ticket, paused), is_paused=lane.server in paused)
                        self._changed.wait(max(0.0, min(SLICE, control.remaining())))
                        control.safe_point()
                line.held[ticket] = lane.model
                return ticket
            finally:
                del line.waiting[ticket]
                self._changed.notify_all()

    def waiting(self, lane: Lane) -> int:
        """Return how many calls are queued."""
        with self._changed:
            return len(self._lines[lane.name].waiting) if lane.name in self._lines else 0

    def pause(self, lane: Lane, seconds: float) -> None:
        """Give no slot for the lane's server for so long."""
        with self._changed:
            until = time.monotonic() + min(seconds, MAX_PAUSE)
            key = lane.name, lane.server
            self._paused[key] = max(until, self._paused.get(key, 0.0))

    def renew(self, lane: Lane, ticket: str) -> None:
        """Do nothing: a slot of this process lives as long as the process."""

    def release(self, lane: Lane, ticket: str) -> None:
        """Give a slot back and let the next in the queue know."""
        with self._changed:
            self._lines[lane.name].held.pop(ticket, None)
            self._changed.notify_all()

    def _admits(self, line: _SlotQueue, ticket: str, lane: Lane, control: Control) -> bool:
        left = self._paused.get((lane.name, lane.server), 0.0) - time.monotonic()
        if left > 0:
            check_pause(lane, left, control)
            return False
        return line.admits(ticket, lane, self._servers_paused(lane))

    def _servers_paused(self, lane: Lane) -> set[str]:
        now = time.monotonic()
        return {
            server
            for (name, server), until in self._paused.items()
            if name == lane.name and until > now
        }


def check_pause(lane: Lane, seconds: float, control: Control) -> None:
    """Raise ProviderLimited where the rest of a pause is longer than a call may wait."""
    if not may_wait(seconds, control):
        raise ProviderLimited(
            f"The model server at {lane.server or lane.name} wants no calls for another "
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


def taken(lane: Lane, model: str) -> SlotTaken:
    """Return the error of a lane without a free slot; `model` is what holds it."""
    return SlotTaken(f"All {lane.limit} places for calls to {lane.name} are taken.", model=model)
