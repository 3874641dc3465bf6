"""The implicit reasoner: the model says in plain words what to do; a tool is found for it."""

from dataclasses import replace

from pydantic import Field

from agents.act.just_in_time import JustInTimeAct
from agents.contracts import Value
from agents.decide import FormLimit, FruitlessLimit, RepeatLimit, react
from agents.history.fruitless import MOST
from agents.policies.context import STRUCTURED, Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.node import NodeThink


class Settings(Value):
    """What a version of this policy fixes."""

    max_fruitless: int = Field(
        default=MOST,
        ge=3,
        le=50,
        description="Model calls in a row that may come to no step that is carried out; "
        "thoughts, choices of a tool and inputs count alike.",
    )
    structured: bool = Field(default=True, description=STRUCTURED)


@policy("implicit", Settings)
def implicit(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model = replace(parts.model, structured=settings.structured)
    most = settings.max_fruitless
    return Policy(
        think=NodeThink(model, parts.toolkit),
        act=JustInTimeAct(model, parts.toolkit, most),
        decide=FruitlessLimit(FormLimit(RepeatLimit(react)), most),
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )
