"""Carry out known actions: propose them, run a tool, observe; the end of every act."""

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.errors import ErrorKind, ToolNotFound
from agents.events import ActionsProposed, ActionStarted, Event, ObservationDelta, Observed
from agents.state import State
from agents.tools.spec import Tool

INTERRUPTED = (
    "This call was interrupted. It may or may not have taken effect, and was not made again."
)


class Calls(Protocol):
    """Finds and calls tools, as a Toolkit does and what wraps one."""

    def get(self, name: str) -> Tool:
        """Return the tool of that name; raises ToolNotFound."""
        ...

    def call(
        self, call: ToolCall, control: Control
    ) -> Generator[ObservationDelta, None, Observation]:
        """Carry out an action; every failure is an observation, only Halted is raised."""
        ...


def run_actions(calls: Sequence[ToolCall], toolkit: Calls, control: Control) -> Iterator[Event]:
    """Propose all actions of a turn, and carry out the first."""
    yield ActionsProposed(calls=tuple(calls))
    yield from run_call(calls[0], toolkit, control)


def next_action(state: State, toolkit: Calls, control: Control) -> Iterator[Event]:
    """Carry out the turn's open action, whoever proposed it.

    Where an earlier worker may have begun it and did not see its end, it is made again only if its
    tool says that this does no harm.
    """
    action = state.turns[-1].open_action
    if action is None or (call := action.call) is None:
        raise ValueError("The last turn has no action to go on with.")
    if not state.may_have_begun or _may_run_again(call, toolkit):
        yield from run_call(call, toolkit, control)
    else:
        yield Observed(observation=Observation(text=INTERRUPTED, error=ErrorKind.INTERRUPTED))


def run_call(call: ToolCall, toolkit: Calls, control: Control) -> Iterator[Event]:
    """Carry out one action that is proposed and was not begun."""
    yield ActionStarted()
    observation = yield from toolkit.call(call, control)
    yield Observed(observation=observation)


def _may_run_again(call: ToolCall, toolkit: Calls) -> bool:
    try:
        return toolkit.get(call.tool).idempotent
    except ToolNotFound:
        return True  # it can only fail, and says why
