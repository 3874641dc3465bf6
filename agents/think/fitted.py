"""Fit the inputs of every action to its tool's schema, before it is proposed."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Thought, ToolCall
from agents.errors import ToolNotFound
from agents.events import Event, ThoughtCompleted
from agents.policy import Think
from agents.state import State
from agents.tools.fitting import fit_inputs
from agents.tools.toolkit import Toolkit


@dataclass(frozen=True)
class FittedThink:
    """Think as wrapped; the schema judges what was given, and unknown inputs are left out.

    `keeps_unknown` leaves those for the check to refuse.
    """

    think: Think
    toolkit: Toolkit
    keeps_unknown: bool = False

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the thought's actions fitted."""
        for event in self.think(state):
            yield (
                ThoughtCompleted(node=self._fitted(event.node))
                if isinstance(event, ThoughtCompleted)
                else event
            )

    def _fitted(self, node: Thought) -> Thought:
        return node.model_copy(update={"calls": tuple(map(self._fitted_call, node.calls))})

    def _fitted_call(self, call: ToolCall) -> ToolCall:
        try:
            tool = self.toolkit.get(call.tool)
        except ToolNotFound:
            return call
        inputs = fit_inputs(tool, call.inputs, keeps_unknown=self.keeps_unknown)
        return ToolCall(tool=call.tool, inputs=inputs)
