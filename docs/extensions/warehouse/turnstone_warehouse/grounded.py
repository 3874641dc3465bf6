"""Grounded: explicit ReAct that does not answer before it has used a tool."""

from dataclasses import dataclass

from agents.act.named_tool import NamedToolAct
from agents.contracts import EndReason
from agents.decide import RepeatLimit, react_in_text
from agents.policies.context import NoSettings, Parts
from agents.policies.declared import policy
from agents.policy import Decide, Decision, Policy, Step
from agents.state import State
from agents.summarize import FinalAnswer
from agents.think.text import TextThink


@dataclass(frozen=True)
class AnswersRestOnTools:
    """Think again after an answer before which no tool was used: a part of this extension's own."""

    decide: Decide

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, unless it ends the run too early."""
        decision = self.decide(state)
        is_bare = not any(turn.calls for turn in state.turns)
        if decision.reason is EndReason.ANSWERED and is_bare:
            return Decision(step=Step.THINK)
        return decision


@policy("grounded", NoSettings)
def grounded(parts: Parts, _: NoSettings) -> Policy:
    """Return the policy for one run."""
    return Policy(
        think=TextThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=AnswersRestOnTools(RepeatLimit(react_in_text)),
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )
