"""Explicit ReAct: the model writes Thought, Action, Action Input and Final Answer as text."""

from agents.act.by_name import ByName
from agents.decide import RepeatLimit, TurnLimit, react_in_text
from agents.policies.parts import NoSettings, Parts
from agents.policy import Policy
from agents.summarize import Summarize
from agents.think.text import TextThink


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    parts.settings_as(NoSettings)
    turns = parts.limits.max_turns
    return Policy(
        name="explicit",
        think=TextThink(parts.model, parts.toolkit),
        act=ByName(parts.toolkit, parts.model.control),
        decide=TurnLimit(RepeatLimit(react_in_text), turns),
        summarize=Summarize(parts.model, turns),
    )
