"""Plan, execute, synthesize: one plan with all its calls, the calls in order, one answer.

Two model calls whatever the number of tools (compare ReWOO, arXiv 2305.18323); a call that failed
makes the answer a partial one.
"""

from agents.act.named_tool import NamedToolAct
from agents.decide import react
from agents.policies.context import NoSettings, Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.summarize import FinalAnswer, PartialSummary
from agents.think.plan import PlanThink


@policy("plan_execute", NoSettings)
def plan_execute(parts: Parts, _: NoSettings) -> Policy:
    """Return the policy for one run."""
    return Policy(
        think=PlanThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=react,
        reads_on=False,
        summarize=PartialSummary(FinalAnswer(parts.model, parts.limits.max_turns)),
    )
