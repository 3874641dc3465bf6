"""Let a risky action wait for a person's yes; with nobody to ask, the answer is no."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.contracts import Observation, ToolCall, Value
from agents.errors import NotApproved, ToolNotFound
from agents.events import ActionProposed, Event, Observed
from agents.policy import Act
from agents.state import State
from agents.tools.spec import Safety, Tool
from agents.tools.toolkit import Toolkit

RISKY = frozenset({Safety.SENSITIVE, Safety.DANGEROUS})


class Approval(Value):
    """What was said to an action; `feedback` is told to the model."""

    granted: bool
    feedback: str = ""


Ask = Callable[[Tool, ToolCall], Approval]


def nobody(tool: Tool, call: ToolCall) -> Approval:
    """Refuse, for there is nobody to ask."""
    return Approval(granted=False, feedback="There is nobody to ask for approval.")


@dataclass(frozen=True)
class Approved:
    """Ask before a sensitive or dangerous tool runs; a no becomes an observation."""

    act: Act
    toolkit: Toolkit
    ask: Ask = nobody

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, or the refused action with what was said to it."""
        turn = state.turns[-1]
        call = turn.action or (None if turn.thought is None else turn.thought.call)
        refusal = None if call is None else self._refusal(call)
        if call is None or refusal is None:
            yield from self.act(state)
            return
        if turn.action is None:
            yield ActionProposed(call=call)
        yield Observed(observation=refusal)

    def _refusal(self, call: ToolCall) -> Observation | None:
        try:
            tool = self.toolkit.get(call.tool)
        except ToolNotFound:
            return None
        if tool.safety not in RISKY:
            return None
        approval = self.ask(tool, call)
        if approval.granted:
            return None
        text = f"The call of {tool.name} was not approved. {approval.feedback}".strip()
        return Observation(text=text, error=NotApproved.__name__)
