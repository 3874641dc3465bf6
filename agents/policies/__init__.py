"""Build a policy of its spec: another one is a small file that declares it, imported here."""

from dataclasses import replace

from agents.act.approval import ApprovedAct
from agents.decide import BudgetLimit
from agents.errors import ConfigurationError
from agents.policies import (  # noqa: F401 (each declares itself)
    explicit,
    implicit,
    native,
    plan_execute,
    planned,
    reflexion,
    rewoo,
    self_repair,
)
from agents.policies.context import Parts
from agents.policies.declared import POLICIES
from agents.policies.in_window import in_window
from agents.policies.spec import PolicySpec
from agents.policies.with_goal import with_goal
from agents.policy import Policy
from agents.prompting.instructions import Instructions
from agents.think.evidence import MODEL_STEP
from agents.think.fitted import FittedThink
from agents.think.repeating import RepeatsTold
from agents.tools.finishing import COMPLETE, FAIL
from agents.tools.mcp.tools import is_mcp
from agents.tools.toolkit import Toolkit

__all__ = ["OWN_STEPS", "POLICIES", "build"]

OWN_STEPS = frozenset({COMPLETE, FAIL, MODEL_STEP})
"""Actions that a policy offers by itself."""


def build(spec: PolicySpec, parts: Parts) -> Policy:
    """Return the policy that `spec` names, with its settings.

    Raises ConfigurationError for an unknown policy, for settings that it does not take, and for an
    unknown tool that a person shall be asked about.
    """
    if spec.policy not in POLICIES:
        known = ", ".join(POLICIES)
        raise ConfigurationError(
            f"There is no policy {spec.policy!r}. There are: {known}. If an extension brought it, "
            "that extension is not loaded here."
        )
    _check_approve(spec, parts.toolkit)
    model = replace(
        parts.model,
        instructions=Instructions(spec.instructions, parts.person, parts.conversation).text,
        thought_tokens=parts.limits.thought_tokens,
        answer_tokens=parts.limits.answer_tokens,
    )
    parts = replace(parts, model=model, settings=spec.settings, approve=spec.approve)
    policy = in_window(with_goal(POLICIES[spec.policy])(parts), model, parts.toolkit)
    # Here and nowhere else, so that no policy can forget to fit, to shorten, to ask, or to count.
    act = ApprovedAct(policy.act, parts.toolkit, parts.ask, parts.approve, OWN_STEPS)
    think = FittedThink(
        RepeatsTold(policy.think),
        parts.toolkit,
        keeps_unknown=not parts.settings.get("prune_inputs", True),
    )
    decide = BudgetLimit(policy.decide, parts.model.budget)
    return replace(policy, think=think, act=act, decide=decide)


def _check_approve(spec: PolicySpec, toolkit: Toolkit) -> None:
    """Refuse the name of a tool that there is none of: a slip must not let a call go unasked.

    A tool that this machine cannot offer may be named.
    """
    for name in spec.approve:
        is_missing = name not in toolkit.names and "*" not in name and not is_mcp(name)
        if is_missing and not any(name == one or name.startswith(f"{one}_") for one in spec.tools):
            there_are = ", ".join(toolkit.names) or "none"
            raise ConfigurationError(
                f"`approve` names {name!r}, which is no tool of this policy; it has {there_are}."
            )
