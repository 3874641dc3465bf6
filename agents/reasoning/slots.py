"""Slots: how many calls may be under way at once, first come, first served.

A lane is what calls share: a provider's limit, or the one local machine. `InProcessSlots` holds the
limit for one process; whoever runs several gives a Slots of their own that all of them see.
"""

import threading
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, Protocol

from agents.control import Control
from agents.errors import SlotTaken

_GLANCE = 0.1
"""Seconds between two looks at the run's control while a call waits."""


class Lane(NamedTuple):
    """What calls share: a name, how many go at once, and for which model.

    In a lane with a `model`, calls for another one wait until there are none for it.
    """

    name: str
    limit: int
    model: str = ""


class Slots(Protocol):
    """A place for each call under way; safe to share between threads."""

    def acquire(self, lane: Lane, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, when all who came before have theirs.

        Raises SlotTaken at once with `wait` false, and what `control.check` raises within a second
        of the halt; then the place in the line is given up.
        """
        ...

    def renew(self, lane: Lane, ticket: str) -> None:
        """Say that the call of a ticket is still under way."""
        ...

    def release(self, lane: Lane, ticket: str) -> None:
        """Give a slot back; a ticket that holds none changes nothing."""
        ...


@dataclass
class _Line:
    """The calls of one lane: those that wait, in order, and those under way, each with a model."""

    waiting: dict[str, str]
    held: dict[str, str]

    def admits(self, ticket: str, lane: Lane) -> bool:
        """Tell whether the ticket may go: it is first, there is room, and the model is the one."""
        is_first = next(iter(self.waiting), ticket) == ticket
        fits = all(model == lane.model for model in self.held.values())
        return is_first and len(self.held) < lane.limit and fits


class InProcessSlots:
    """Hold the limits of one process; a call that ends with its thread is its holder's affair."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: dict[str, _Line] = {}
        self._tickets = map(str, count(1))

    def acquire(self, lane: Lane, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, waiting for it in line."""
        with self._changed:
            ticket = next(self._tickets)
            line = self._lines.setdefault(lane.name, _Line({}, {}))
            line.waiting[ticket] = lane.model
            try:
                control.check()
                while not line.admits(ticket, lane):
                    if not wait:
                        raise taken(lane, next(iter(line.held.values()), ""))
                    self._changed.wait(max(0.0, min(_GLANCE, control.remaining())))
                    control.check()
                line.held[ticket] = lane.model
                return ticket
            finally:
                del line.waiting[ticket]
                self._changed.notify_all()

    def waiting(self, lane: Lane) -> int:
        """Return how many calls stand in line."""
        with self._changed:
            return len(self._lines[lane.name].waiting) if lane.name in self._lines else 0

    def renew(self, lane: Lane, ticket: str) -> None:
        """Do nothing: a slot of this process lives as long as the process."""

    def release(self, lane: Lane, ticket: str) -> None:
        """Give a slot back and let the next in line know."""
        with self._changed:
            self._lines[lane.name].held.pop(ticket, None)
            self._changed.notify_all()


def taken(lane: Lane, model: str) -> SlotTaken:
    """Return the error of a lane without a free slot; `model` is what holds it."""
    return SlotTaken(f"All {lane.limit} places for calls to {lane.name} are taken.", model=model)
