"""Explicit ReAct: the model writes Thought, Action, Action Input and Final Answer as text."""

from agents.act.named_tool import NamedToolAct
from agents.decide import FormLimit, RepeatLimit, react_in_text
from agents.policies.context import NoSettings, Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.text import TextThink


@policy("explicit", NoSettings)
def explicit(parts: Parts, _: NoSettings) -> Policy:
    """Return the policy for one run."""
    return Policy(
        think=TextThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=FormLimit(RepeatLimit(react_in_text)),
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )
