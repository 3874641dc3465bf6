"""Act where think has named the tool and written its inputs."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.act.run_action import Calls, next_action, run_actions
from agents.contracts import Observation
from agents.control import Control
from agents.errors import ErrorKind
from agents.events import Event, Observed
from agents.state import State

REMINDER = "I need to follow the proper format. Let me try again."


@dataclass(frozen=True)
class NamedToolAct:
    """Call the tools that the last thought names, or remind a thought without one of the format."""

    toolkit: Calls
    control: Control

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the next action and its observation."""
        turn = state.turns[-1]
        if turn.actions:
            yield from next_action(state, self.toolkit, self.control)
        elif turn.thought is not None and turn.thought.calls:
            yield from run_actions(turn.thought.calls, self.toolkit, self.control)
        else:
            unreadable = Observation(text=REMINDER, error=ErrorKind.PARSE_ERROR)
            yield Observed(observation=unreadable)
