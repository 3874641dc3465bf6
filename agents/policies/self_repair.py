"""Self-repair: reasoning aloud, then one action as JSON; what fails is repaired a few times."""

from dataclasses import replace
from typing import Self

from pydantic import Field, model_validator

from agents.act.after_retries import RetriedAct
from agents.act.corrected import CorrectedAct
from agents.act.named_tool import NamedToolAct
from agents.compat.hand_on import ExtrasAct
from agents.contracts import Value
from agents.decide import FailureLimit, RepeatLimit, react_in_text
from agents.history.retries import Retries
from agents.policies.context import Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.summarize import FinalAnswer
from agents.think.action import ActionThink, complaint
from agents.think.repair import RepairThink, RetryThink


class Settings(Value):
    """What a version of this policy fixes; the model's own temperature and limit come first.

    `repair` lets the model repair what failed, at `repair_temperature` and in `repair_tokens`;
    without it, a failed call that does no harm is made again as it was. `backoff_seconds` is the
    pause before the first retry of a tool, and grows by as much with each. The run ends after
    `max_failures` failed turns in a row.
    """

    temperature: float = Field(
        default=0.7, ge=0, le=2, description="Sampling where the model says none of its own."
    )
    max_tokens: int = Field(
        default=8_000, ge=1, description="Tokens of a reply where the model says none of its own."
    )
    prune_inputs: bool = Field(
        default=True, description="Leave out inputs that a tool does not take."
    )
    has_markers: bool = Field(
        default=True, description="Ask for marks around the reasoning and the action."
    )
    repair: bool = Field(
        default=True, description="Let the model repair what failed, with the error in view."
    )
    repair_temperature: float = Field(default=0.2, ge=0, le=2, description="Sampling of a repair.")
    repair_tokens: int = Field(default=2_000, ge=1, description="Tokens of a repair at most.")
    max_parse_retries: int = Field(
        default=2, ge=0, le=20, description="Retries of a reply that cannot be read."
    )
    max_tool_errors: int = Field(
        default=2, ge=0, le=20, description="Retries of a tool that failed."
    )
    backoff_seconds: float = Field(
        default=0.8,
        ge=0,
        le=60,
        description="Seconds before the first retry of a tool; with each as much more.",
    )
    max_failures: int = Field(
        default=6, ge=1, description="Failed turns in a row that end the run."
    )

    @model_validator(mode="after")
    def _leaves_room_for_retries(self) -> Self:
        retries = max(self.max_parse_retries, self.max_tool_errors)
        if self.max_failures <= retries:
            raise ValueError(f"max_failures must be more than the {retries} retries of a step")
        return self


@policy("self_repair", Settings)
def self_repair(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model, toolkit = parts.model, parts.toolkit
    model = replace(
        model,
        temperature=settings.temperature if model.temperature is None else model.temperature,
        max_tokens=model.max_tokens or settings.max_tokens,
    )
    cooler = replace(
        model, temperature=settings.repair_temperature, max_tokens=settings.repair_tokens
    )
    tool_errors = settings.max_tool_errors
    retries = Retries(settings.max_parse_retries, tool_errors, settings.backoff_seconds)
    mend = RepairThink if settings.repair else RetryThink
    think = mend(ActionThink(model, toolkit, settings.has_markers), cooler, toolkit, retries)
    by_name = NamedToolAct(ExtrasAct(toolkit, parts.asks_about), model.control)
    act = RetriedAct(CorrectedAct(by_name, complaint), retries)
    decide = FailureLimit(react_in_text, settings.max_failures)
    return Policy(
        think=think,
        act=act,
        decide=RepeatLimit(decide, times=2 * (tool_errors + 1)),
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )
