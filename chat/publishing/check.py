"""Is a policy's content fit to be published: every field by its type, and the whole by `build`?"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from pydantic import ValidationError

from agents.contracts import Value
from agents.control import Control
from agents.errors import AgentError
from agents.model.model import Model
from agents.policies import POLICIES, build
from agents.policies.budgets import budget_for
from agents.policies.context import Parts
from agents.policies.spec import PolicySpec
from agents.policies.with_goal import SETTING, Shared
from agents.providers.brought import provider_names
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.tools.catalogue import toolkit
from agents.tools.mcp.tools import ALL, MARK, is_mcp
from agents.tools.setup import ToolSetup, tool_setup

WHOLE = ""
"""The place of a problem that is of no single field."""


class Unfit(ValueError):
    """Raised for content that cannot be published; `problems` has the words by their places."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(
            "; ".join(f"{at}: {what}" if at else what for at, what in problems.items())
        )
        self.problems = dict(problems)


def known_providers() -> tuple[str, ...]:
    """Return the providers that a version may name here, but for the one of scripts."""
    ours = (name for name in provider_names() if name != "scripted")
    return (*ours, *settings.PROVIDERS.names)


def checked(content: Mapping[str, Any]) -> PolicySpec:
    """Return the spec that the content says; raises Unfit with every problem that is found.

    A place is written with dots, such as `limits.max_turns` or `settings.tries`.
    """
    problems: dict[str, str] = {}
    own = content.get("settings") or {}
    base = POLICIES.get(str(content.get("policy", "")))
    if base is not None and isinstance(own, Mapping):
        shared = {name: value for name, value in own.items() if name == SETTING}
        rest = {name: value for name, value in own.items() if name != SETTING}
        problems |= _problems(base.settings, rest, "settings")
        problems |= _problems(Shared, shared, "settings") if shared else {}
    problems |= _problems(PolicySpec, content, "")
    if problems:
        raise Unfit(problems)
    spec = PolicySpec.model_validate(content)
    problems = dict(_whole(spec))
    if problems:
        raise Unfit(problems)
    return spec


def _problems(kind: type[Value], values: Mapping[str, Any], under: str) -> dict[str, str]:
    try:
        kind.model_validate(dict(values))
    except ValidationError as error:
        return {
            ".".join(filter(None, (under, *map(str, problem["loc"])))): problem["msg"]
            for problem in error.errors(include_url=False, include_input=False)
        }
    return {}


def _whole(spec: PolicySpec) -> Iterable[tuple[str, str]]:
    """Yield what is wrong with models, tools, limits and approvals, and what `build` says."""
    choices = {"model": spec.model} | {f"models.{role}": one for role, one in spec.models.items()}
    for place, choice in choices.items():
        if choice.provider not in (*known_providers(), "scripted"):
            there_are = ", ".join(known_providers())
            said = f"There is no provider {choice.provider!r}. There are: {there_are}."
            yield f"{place}.provider", said
    setup = tool_setup(settings.TOOL_ENVIRONMENT)
    ours = [name for name in spec.tools if not is_mcp(name)]
    for name in spec.tools:
        if is_mcp(name) and (problem := _mcp_problem(name, setup)):
            yield "tools", problem
            return
    try:
        kit = toolkit(ours, find_turns=lambda query: ())
    except AgentError as error:
        yield "tools", str(error)
        return
    provider = connect(ModelChoice(provider="demo"), {})
    parts = Parts(Model(provider, Control()), kit, spec.limits)
    try:
        build(spec, parts)
    except AgentError as error:
        is_approve = str(error).startswith("`approve`")
        yield "approve" if is_approve else WHOLE, str(error)
    try:
        budget_for(spec, provider, "")
    except AgentError as error:
        yield "limits.cost", str(error)
    finally:
        kit.close()


def _mcp_problem(name: str, setup: ToolSetup) -> str:
    if setup.mcp_problem:
        return setup.mcp_problem
    server = name.partition(MARK)[0]
    names = [one.name for one in setup.mcp_servers]
    if name == ALL or server in names:
        return ""
    return f"{name!r} is of no MCP server; there are: {', '.join(names) or 'none'}."
