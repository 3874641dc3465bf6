"""The implicit reasoner: the model says in plain words what to do; a tool is found for it."""

from agents.act.just_in_time import JustInTimeAct
from agents.decide import RepeatLimit, TurnLimit, react
from agents.policies.context import NoSettings, Parts
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.node import NodeThink


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    parts.settings_as(NoSettings)
    turns = parts.limits.max_turns
    return Policy(
        name="implicit",
        think=NodeThink(parts.model, parts.toolkit),
        act=JustInTimeAct(parts.model, parts.toolkit),
        decide=TurnLimit(RepeatLimit(react), turns),
        summarize=FinalAnswer(parts.model, turns),
    )
