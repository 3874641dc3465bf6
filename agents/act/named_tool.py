"""Act where think has named the tool and written its inputs."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.act.run_action import Calls, continue_action, run_action
from agents.contracts import Observation
from agents.control import Control
from agents.errors import ParseError
from agents.events import Event, Observed
from agents.state import State

REMINDER = "I need to follow the proper format. Let me try again."


@dataclass(frozen=True)
class NamedToolAct:
    """Call the tool that the last thought names, or remind a thought without one of the format."""

    toolkit: Calls
    control: Control

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the action and its observation."""
        turn = state.turns[-1]
        if turn.action is not None:
            yield from continue_action(state, self.toolkit, self.control)
        elif turn.thought is not None and turn.thought.call is not None:
            yield from run_action(turn.thought.call, self.toolkit, self.control)
        else:
            unreadable = Observation(text=REMINDER, error=ParseError.__name__)
            yield Observed(observation=unreadable)
