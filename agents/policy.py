"""A policy: the whole map from what the agent knows to what it does next.

The four parts are Protocols of one call each; a function or any object with `__call__` will do, no
base class needed. Limits and other behaviours are wrappers of the same shape as what they wrap.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agents.contracts import EndReason, Value
from agents.events import Event
from agents.state import State


class Step(StrEnum):
    """What the loop does next."""

    THINK = "think"
    TOOL = "tool"
    HALT = "halt"


class Decision(Value):
    """The next step; a HALT says why."""

    step: Step
    reason: EndReason | None = None


class Think(Protocol):
    """Reason one step: yield deltas, then exactly one `ThoughtCompleted`."""

    def __call__(self, state: State, /) -> Iterator[Event]: ...


class Act(Protocol):
    """Carry out the next of the last thought's actions: yield exactly one `Observed`.

    It may carry out several at once, and yields one `Observed` for each, with its position. The
    first time `ActionsProposed` comes before; act is called again while an action is open.
    """

    def __call__(self, state: State, /) -> Iterator[Event]: ...


class Decide(Protocol):
    """Choose the next step from the state alone."""

    def __call__(self, state: State, /) -> Decision: ...


class Summarize(Protocol):
    """Close a halted run: yield answer deltas if any, then exactly one `RunEnded`."""

    def __call__(self, state: State, /) -> Iterator[Event]: ...


@dataclass(frozen=True)
class Policy:
    """The four parts that the loop composes; a declared one is named by its declaration.

    `reads_on` says that a model that is told of an observation may still call a tool.
    """

    think: Think
    act: Act
    decide: Decide
    summarize: Summarize
    name: str = ""
    reads_on: bool = True
