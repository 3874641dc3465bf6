"""The registry of policies: a sixth is one small file and one line here."""

from dataclasses import replace

from agents.errors import ConfigurationError
from agents.policies import explicit, implicit, plan_execute, planned, reflexion, rewoo, self_repair
from agents.policies.parts import Build, Parts
from agents.policies.spec import PolicySpec
from agents.policies.with_goal import with_goal
from agents.policy import Policy

POLICIES: dict[str, Build] = {
    "explicit": explicit.build,
    "implicit": implicit.build,
    "plan_execute": plan_execute.build,
    "planned": planned.build,
    "reflexion": reflexion.build,
    "rewoo": rewoo.build,
    "self_repair": self_repair.build,
}


def build(spec: PolicySpec, parts: Parts) -> Policy:
    """Return the policy that `spec` names, with its settings.

    Raises ConfigurationError for an unknown policy, and for settings that it does not take.
    """
    if spec.policy not in POLICIES:
        known = ", ".join(POLICIES)
        raise ConfigurationError(f"There is no policy {spec.policy!r}. There are: {known}.")
    return with_goal(POLICIES[spec.policy])(replace(parts, settings=spec.settings))
