"""Plan, execute, synthesize: one plan with all its calls, the calls in order, one answer.

Two model calls whatever the number of tools (compare ReWOO, arXiv 2305.18323); a call that failed
makes the answer a partial one.
"""

from agents.act.named_tool import NamedToolAct
from agents.decide import TurnLimit, react
from agents.policies.context import NoSettings, Parts
from agents.policy import Policy
from agents.summarize import FinalAnswer, PartialSummary
from agents.think.plan import PlanThink


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    parts.settings_as(NoSettings)
    turns = parts.limits.max_turns
    return Policy(
        name="plan_execute",
        think=PlanThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=TurnLimit(react, turns),
        summarize=PartialSummary(FinalAnswer(parts.model, turns)),
    )
