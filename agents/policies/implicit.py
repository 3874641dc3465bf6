"""The implicit reasoner: the model says in plain words what to do; a tool is found for it."""

from agents.act.just_in_time import JustInTime
from agents.decide import RepeatLimit, TurnLimit, react
from agents.policies.parts import NoSettings, Parts
from agents.policy import Policy
from agents.summarize import Summarize
from agents.think.node import NodeThink


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    parts.settings_as(NoSettings)
    turns = parts.limits.max_turns
    return Policy(
        name="implicit",
        think=NodeThink(parts.model, parts.toolkit),
        act=JustInTime(parts.model, parts.toolkit),
        decide=TurnLimit(RepeatLimit(react), turns),
        summarize=Summarize(parts.model, turns),
    )
