"""Each model by role, as a version names it and one run has it."""

from collections.abc import Callable

from agents.contracts import Purpose
from agents.control import Control
from agents.model.model import Model
from agents.policies.spec import ModelRole, PolicySpec
from agents.providers.base import Provider


def models_by_purpose(
    spec: PolicySpec, control: Control, provider_of: Callable[[ModelRole], Provider]
) -> dict[Purpose, Model]:
    """Return the models that are asked in place of the policy's own, each for its purposes."""
    made = {
        role: Model(provider_of(role), control, choice.temperature, choice.max_tokens)
        for role, choice in spec.models.items()
    }
    return {purpose: made[role] for purpose in Purpose if (role := ModelRole.of(purpose)) in made}
