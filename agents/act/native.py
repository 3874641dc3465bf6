"""Act on native calls: at once where all of a turn only read, one after the other elsewhere."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from agents.act.at_once import run_at_once
from agents.act.run_action import next_action, run_call
from agents.contracts import Observation, ToolCall, Turn
from agents.control import Control
from agents.errors import ErrorKind, InvalidInputs, ToolNotFound
from agents.events import ActionsProposed, Event, Observed
from agents.history.native import NO_TOOLS, has_no_tools, made_calls
from agents.policy import Act
from agents.state import State
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

IN_TEXT = "From here on the tools are told in the prompt, and are called in text."
EMPTY = "Your reply was empty. Call a tool, or write the answer."
WRITTEN = (
    "That call was written as text, and nothing was carried out. Call tools only by the calls that "
    "you are offered, or write the answer."
)

MustAsk = Callable[[State, Tool], bool]
"""Tells whether a person is to be asked before a tool is called now."""


@dataclass(frozen=True)
class NativeAct:
    """Carry out what the last thought calls, or say of a reply that came to nothing what is wrong.

    Calls run at once where each can only read, or only fail, and none waits for a person.
    `otherwise` acts where the tools are told in the prompt.
    """

    toolkit: Toolkit
    control: Control
    must_ask: MustAsk
    otherwise: Act

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the actions and their observations."""
        turn = state.turns[-1]
        if has_no_tools(replace(state, turns=state.turns[:-1])):
            yield from self.otherwise(state)
            return
        if not turn.actions and (turn.thought is None or not turn.thought.calls):
            yield Observed(observation=_complaint(turn))
            return
        if not turn.actions:
            calls = () if turn.thought is None else turn.thought.calls
            yield ActionsProposed(calls=calls)
            turn = turn.with_calls(calls)
        yield from self._carried_out(turn, state)

    def _carried_out(self, turn: Turn, state: State) -> Iterator[Event]:
        open_calls = {
            place: action.call
            for place, action in enumerate(turn.actions)
            if action.observation is None and action.call is not None
        }
        faults = {n: made.fault for n, made in enumerate(made_calls(turn)) if made.fault}
        first = next(iter(open_calls))
        if first in faults:
            wrong = Observation(text=faults[first], error=ErrorKind.INVALID_INPUTS)
            yield Observed(observation=wrong)
        elif len(open_calls) > 1 and self._only_read(open_calls, state):
            whole = {n: call for n, call in open_calls.items() if n not in faults}
            yield from run_at_once(whole, self.toolkit, self.control)
        elif state.turns[-1].actions:
            yield from next_action(state, self.toolkit, self.control)
        else:
            yield from run_call(open_calls[first], self.toolkit, self.control)

    def _only_read(self, calls: Mapping[int, ToolCall], state: State) -> bool:
        return all(self._reads(call, state) for call in calls.values())

    def _reads(self, call: ToolCall, state: State) -> bool:
        try:
            tool = self.toolkit.get(call.tool)
            self.toolkit.validate(tool, call.inputs)
        except (ToolNotFound, InvalidInputs):
            return True  # it can only fail
        return tool.reads_only and not tool.terminal and not self.must_ask(state, tool)


def _complaint(turn: Turn) -> Observation:
    said = "" if turn.thought is None else turn.thought.text
    if said == NO_TOOLS:
        return Observation(text=IN_TEXT)
    return Observation(text=WRITTEN if said else EMPTY, error=ErrorKind.PARSE_ERROR)
