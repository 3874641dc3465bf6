"""Act where think has named the tool and written its inputs."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.act.run_action import Calls, next_action, run_actions
from agents.control import Control
from agents.events import Event, Observed
from agents.reading.markup.complaint import text_complaint
from agents.state import State


@dataclass(frozen=True)
class NamedToolAct:
    """Call the tools that the last thought names, or say what is wanted to one that names none."""

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
            said = "" if turn.thought is None else turn.thought.text
            yield Observed(observation=text_complaint(said))
