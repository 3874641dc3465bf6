"""What one version of a policy fixes, as it is stored; everything else is code."""

from enum import StrEnum
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from agents.contracts import Purpose, Value
from agents.providers.choice import ModelChoice

INSTRUCTIONS_LENGTH = 8_000
"""Characters of instructions at most, of each who gives some."""


class ModelRole(StrEnum):
    """What a policy has a model for; a role without a model of its own takes the policy's."""

    PLAN = "plan"
    THINK = "think"
    REPAIR = "repair"
    SUMMARIZE = "summarize"

    @classmethod
    def of(cls, purpose: str) -> "ModelRole":
        """Return the role in which a call is made."""
        return _ROLES.get(purpose, cls.THINK)


_ROLES: dict[str, ModelRole] = {
    **dict.fromkeys((Purpose.PLAN, Purpose.PLAN_STEPS, Purpose.PLAN_AGAIN), ModelRole.PLAN),
    **dict.fromkeys((Purpose.PLAN_GOALS, Purpose.ADAPT_PLAN), ModelRole.PLAN),
    **dict.fromkeys((Purpose.SUMMARIZE, Purpose.SOLVE, Purpose.SYNTHESIZE), ModelRole.SUMMARIZE),
    Purpose.REPAIR: ModelRole.REPAIR,
}


class Limits(Value):
    """How far a run may go: turns, seconds in all, for one reply, and without a token.

    `tokens` and `cost` (US dollars) are what all its calls may come to, None for no limit. A reply
    may have `thought_tokens`, `answer_tokens` where a person may read it, thinking included, and no
    more than a quarter of what its model takes, where that is known.
    """

    max_turns: int = Field(default=10, ge=1, le=1000, description="Turns of a run at most.")
    seconds: float = Field(default=600.0, gt=0, description="Seconds that a run works at most.")
    call_seconds: float = Field(default=600.0, gt=0, description="Seconds for one reply at most.")
    idle_seconds: float = Field(
        default=60.0, gt=0, description="Seconds that a model may be silent within a reply."
    )
    tokens: int | None = Field(
        default=None, ge=1, description="Tokens that all calls may come to; empty for no limit."
    )
    cost: float | None = Field(
        default=None, gt=0, description="US dollars that all calls may cost; empty for no limit."
    )
    thought_tokens: int = Field(
        default=8_000, ge=1, description="Tokens at most of a reply that nobody reads."
    )
    answer_tokens: int = Field(
        default=16_000, ge=1, description="Tokens at most of a reply that may be the answer."
    )


class PolicySpec(Value):
    """A policy's name in the registry with its model, tools, limits and its own settings.

    What may stand in `settings` is said by the policy that is named; another setting is refused
    when the policy is built. `approve` names tools that a person is asked about before each call,
    beside those that are sensitive or dangerous by themselves; `*` stands for any characters.
    `instructions` are told to the model in every call. `models` are asked in their roles in place
    of `model`.
    """

    policy: str
    model: ModelChoice = ModelChoice()
    tools: tuple[str, ...] = ()
    limits: Limits = Limits()
    settings: dict[str, Any] = Field(default_factory=dict)
    approve: tuple[str, ...] = ()
    instructions: str = Field(default="", max_length=INSTRUCTIONS_LENGTH)
    models: dict[ModelRole, ModelChoice] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what says nothing, so that the digest of a policy without it is what it was."""
        written = write(self)
        return {
            name: value for name, value in written.items() if value or name not in _LATER_FIELDS
        }

    def choice_of(self, model: str) -> ModelChoice:
        """Return the choice that names a model; the policy's own where none of a role does."""
        return next((one for one in self.models.values() if one.model == model), self.model)


_LATER_FIELDS = frozenset({"instructions", "models"})
