"""What one version of a policy fixes, as it is stored; everything else is code."""

from typing import Any

from pydantic import Field

from agents.contracts import Value
from agents.providers.choice import ModelChoice


class Limits(Value):
    """How far a run may go: turns, seconds in all, seconds without a token."""

    max_turns: int = Field(default=10, ge=1, le=1000)
    seconds: float = Field(default=600.0, gt=0)
    idle_seconds: float = Field(default=60.0, gt=0)


class PolicySpec(Value):
    """A policy's name in the registry with its model, tools, limits and its own settings.

    What may stand in `settings` is said by the policy that is named; another setting is refused
    when the policy is built.
    """

    policy: str
    model: ModelChoice = ModelChoice()
    tools: tuple[str, ...] = ()
    limits: Limits = Limits()
    settings: dict[str, Any] = Field(default_factory=dict)
