"""How a policy is declared: its name, the settings that its versions may fix, and its parts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agents.contracts import Value
from agents.decide import TurnLimit
from agents.errors import ConfigurationError
from agents.policies.context import Parts
from agents.policy import Policy

Settings = TypeVar("Settings", bound=Value)


@dataclass(frozen=True)
class Declared:
    """A policy by its name; `compose` makes it of one run's parts and its settings."""

    name: str
    settings: type[Value]
    compose: Callable[[Parts, Any], Policy]

    def __call__(self, parts: Parts) -> Policy:
        """Return the policy for one run, within its turns; raises ConfigurationError."""
        composed = self.compose(parts, parts.settings_as(self.settings))
        within_turns = TurnLimit(composed.decide, parts.limits.max_turns)
        return replace(composed, name=self.name, decide=within_turns)


POLICIES: dict[str, Declared] = {}
"""The policies that there are; each declares itself."""


def policy(
    name: str, settings: type[Settings]
) -> Callable[[Callable[[Parts, Settings], Policy]], Declared]:
    """Declare the policy that a function composes of one run's parts and its settings.

    Its settings are validated, its turns limited and its name given here; what else wraps every
    policy is in `agents.policies.build`. Raises ConfigurationError for a name that is taken.
    """

    def declare(compose: Callable[[Parts, Settings], Policy]) -> Declared:
        if name in POLICIES:
            raise ConfigurationError(f"There is a policy {name!r} already; choose another name.")
        POLICIES[name] = Declared(name, settings, compose)
        return POLICIES[name]

    return declare
