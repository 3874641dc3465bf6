"""Leave out of an action what its tool does not know, before it is proposed."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Thought, ToolCall
from agents.errors import ToolNotFound
from agents.events import Event, ThoughtCompleted
from agents.policy import Think
from agents.state import State
from agents.tools.toolkit import Toolkit


@dataclass(frozen=True)
class PrunedThink:
    """Think as wrapped, without inputs that the named tool would refuse as unknown."""

    think: Think
    toolkit: Toolkit

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the thought's actions pruned."""
        for event in self.think(state):
            yield (
                ThoughtCompleted(node=self._pruned(event.node))
                if isinstance(event, ThoughtCompleted)
                else event
            )

    def _pruned(self, node: Thought) -> Thought:
        return node.model_copy(update={"calls": tuple(map(self._pruned_call, node.calls))})

    def _pruned_call(self, call: ToolCall) -> ToolCall:
        try:
            tool = self.toolkit.get(call.tool)
        except ToolNotFound:
            return call
        if tool.schema.get("additionalProperties") is not False:
            return call  # the tool takes inputs that it does not list
        inputs, _ = self.toolkit.prune(tool, call.inputs)
        return call.model_copy(update={"inputs": inputs})
