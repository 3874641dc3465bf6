"""How often a failed step is tried again: counted from the turns alone, for a replay to agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agents.contracts import Action, Turn
from agents.errors import ErrorKind

Failure = Literal["unreadable", "tool"]

_UNREADABLE = {ErrorKind.PARSE_ERROR, ErrorKind.TOOL_NOT_FOUND, ErrorKind.INVALID_INPUTS}
_TOOL = {ErrorKind.TOOL_FAILED, ErrorKind.TOOL_TIMEOUT, ErrorKind.TOOL_ERROR}


@dataclass(frozen=True)
class Retry:
    """A try that is due: what failed, the number of the try from 1, and the seconds before it."""

    failed: Turn
    number: int
    pause: float


@dataclass(frozen=True)
class Retries:
    """How many repairs a step gets: of actions that cannot be run, and of tools that failed.

    The pause grows linearly, by `backoff` seconds with each try. What cannot be run is first
    repaired at once, for no pause mends it.
    """

    unreadable: int = 2
    tool: int = 2
    backoff: float = 0.8

    def due(self, turns: Sequence[Turn]) -> Retry | None:
        """Return the repair that comes next; None after a turn that needs none or has had all."""
        kind, number = self._count(turns)
        if kind is None or number > self._most(kind):
            return None
        pause = self.backoff * (number if kind == "tool" else number - 1)
        return Retry(turns[-1], number, pause)

    def are_used_up(self, turns: Sequence[Turn]) -> bool:
        """Tell whether the last of the turns is the last try at a tool, and failed."""
        kind, number = self._count(turns)
        return kind == "tool" and number > self.tool

    def _count(self, turns: Sequence[Turn]) -> tuple[Failure | None, int]:
        """Return how the last turn failed, and how often its step has failed so by now."""
        counts: dict[Failure, int] = {"unreadable": 0, "tool": 0}
        kind: Failure | None = None
        for turn in turns:
            if kind is None or counts[kind] > self._most(kind):
                counts = {"unreadable": 0, "tool": 0}
            kind = failure_of(turn)
            if kind is not None:
                counts[kind] += 1
        return kind, counts[kind] if kind is not None else 0

    def _most(self, kind: Failure) -> int:
        return self.tool if kind == "tool" else self.unreadable


def failed_action(turn: Turn) -> Action | None:
    """Return the last action of a turn that failed, None where none did."""
    return next((action for action in reversed(turn.actions) if action.has_failed), None)


def failure_of(turn: Turn) -> Failure | None:
    """Return whether a turn failed at being read or at its tool, None for neither."""
    action = failed_action(turn)
    error = None if action is None or action.observation is None else action.observation.error
    if error in _UNREADABLE:
        return "unreadable"
    return "tool" if error in _TOOL else None
