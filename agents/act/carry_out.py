"""Carry out a known action: propose it, run its tool, observe; the end of every act."""

from collections.abc import Iterator

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.errors import Interrupted, ToolNotFound
from agents.events import ActionProposed, ActionStarted, Event, Observed
from agents.state import State
from agents.tools.toolkit import Toolkit

INTERRUPTED = (
    "This call was interrupted. It may or may not have taken effect, and was not made again."
)


def carry_out(call: ToolCall, toolkit: Toolkit, control: Control) -> Iterator[Event]:
    """Yield the events of one action, from its proposal to its observation."""
    yield ActionProposed(call=call)
    yield from _run(call, toolkit, control)


def carry_on(state: State, toolkit: Toolkit, control: Control) -> Iterator[Event]:
    """Finish the action that an earlier worker proposed and did not see the end of.

    It is made again only if its tool says that this does no harm.
    """
    call = state.turns[-1].action
    if call is None:
        raise ValueError("The last turn has no action to go on with.")
    if _may_run_again(call, toolkit):
        yield from _run(call, toolkit, control)
    else:
        yield Observed(observation=Observation(text=INTERRUPTED, error=Interrupted.__name__))


def _run(call: ToolCall, toolkit: Toolkit, control: Control) -> Iterator[Event]:
    yield ActionStarted()
    observation = yield from toolkit.call(call, control)
    yield Observed(observation=observation)


def _may_run_again(call: ToolCall, toolkit: Toolkit) -> bool:
    try:
        return toolkit.get(call.tool).idempotent
    except ToolNotFound:
        return True  # it can only fail, and says why
