"""The implicit reasoner: the model says in plain words what to do; a tool is found for it."""

from agents.act.just_in_time import JustInTimeAct
from agents.decide import FormLimit, RepeatLimit, react
from agents.policies.context import NoSettings, Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.node import NodeThink


@policy("implicit", NoSettings)
def implicit(parts: Parts, _: NoSettings) -> Policy:
    """Return the policy for one run."""
    return Policy(
        think=NodeThink(parts.model, parts.toolkit),
        act=JustInTimeAct(parts.model, parts.toolkit),
        decide=FormLimit(RepeatLimit(react)),
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )
