"""What one version of a policy fixes, as it is stored; everything else is code."""

from typing import Any

from pydantic import Field

from agents.contracts import Value
from agents.providers.choice import ModelChoice


class Limits(Value):
    """How far a run may go: turns, seconds in all, for one reply, and without a token.

    `tokens` and `cost` (US dollars) are what all its calls may come to, None for no limit. A reply
    may have `thought_tokens`, `answer_tokens` where a person may read it, thinking included, and no
    more than a quarter of what its model takes, where that is known.
    """

    max_turns: int = Field(default=10, ge=1, le=1000)
    seconds: float = Field(default=600.0, gt=0)
    call_seconds: float = Field(default=600.0, gt=0)
    idle_seconds: float = Field(default=60.0, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    cost: float | None = Field(default=None, gt=0)
    thought_tokens: int = Field(default=8_000, ge=1)
    answer_tokens: int = Field(default=16_000, ge=1)


class PolicySpec(Value):
    """A policy's name in the registry with its model, tools, limits and its own settings.

    What may stand in `settings` is said by the policy that is named; another setting is refused
    when the policy is built. `approve` names tools that a person is asked about before each call,
    beside those that are sensitive or dangerous by themselves; `*` stands for any characters.
    """

    policy: str
    model: ModelChoice = ModelChoice()
    tools: tuple[str, ...] = ()
    limits: Limits = Limits()
    settings: dict[str, Any] = Field(default_factory=dict)
    approve: tuple[str, ...] = ()
