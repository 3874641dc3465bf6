"""Act where a step is for the model itself: read, compare or extract, with no tool."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Message, Observation, Purpose, Role, ToolCall
from agents.errors import ErrorKind
from agents.events import (
    ActionsProposed,
    ActionStarted,
    Event,
    ObservationDelta,
    Observed,
)
from agents.model.model import Model
from agents.policy import Act
from agents.prompting.prompts import enclosed, render
from agents.reading.prose import Prose
from agents.state import State


@dataclass(frozen=True)
class ModelStepAct:
    """Let the model do the action that is called `name`; every other goes to the wrapped act."""

    act: Act
    model: Model
    name: str

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, or what the model says as the observation."""
        turn = state.turns[-1]
        calls = turn.thought.calls if turn.thought is not None and not turn.actions else ()
        action = turn.open_action
        call = next(iter(calls), None) if action is None else action.call
        if call is None or call.tool != self.name:
            yield from self.act(state)
            return
        if calls:
            yield ActionsProposed(calls=calls)
        yield ActionStarted()
        yield from self._ask(call)

    def _ask(self, call: ToolCall) -> Iterator[Event]:
        reader = Prose(lambda text: ObservationDelta(text=text))
        yield from self.model.read(reader, _messages(call), purpose=Purpose.WORK)
        if reader.said:
            yield Observed(observation=Observation(text=reader.said.text))
        else:
            empty = Observation(text="The model said nothing.", error=ErrorKind.TOOL_FAILED)
            yield Observed(observation=empty)


def _messages(call: ToolCall) -> list[Message]:
    asked = f"Step:\n{enclosed('step', str(call.inputs.get('input', '')))}"
    return [
        Message(role=Role.SYSTEM, content=render("rewoo/work")),
        Message(role=Role.USER, content=asked),
    ]
