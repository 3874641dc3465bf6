"""Explicit ReAct: the model writes Thought, Action, Action Input and Final Answer as text."""

from agents.act.named_tool import NamedToolAct
from agents.decide import RepeatLimit, TurnLimit, react_in_text
from agents.policies.context import NoSettings, Parts
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.text import TextThink


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    parts.settings_as(NoSettings)
    turns = parts.limits.max_turns
    return Policy(
        name="explicit",
        think=TextThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=TurnLimit(RepeatLimit(react_in_text), turns),
        summarize=FinalAnswer(parts.model, turns),
    )
