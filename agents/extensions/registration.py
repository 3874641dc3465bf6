"""Put what an extension brings beside what is ours: all of it, or nothing where a name is taken."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from agents.control import Control
from agents.errors import ConfigurationError
from agents.extensions.extension import Extension
from agents.model.model import Model
from agents.policies import OWN_STEPS, POLICIES, build
from agents.policies.context import Parts
from agents.policies.declared import Declared
from agents.providers.brought import BROUGHT, provider_names
from agents.providers.scripted import ScriptedProvider
from agents.tools import catalogue
from agents.tools.catalogue import TOOLS, toolkit
from agents.tools.mcp.tools import ALL, is_mcp
from agents.tools.setup import ToolSetup
from agents.tools.spec import Tool

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 40
_LONGEST_SLUG = 50
_LONGEST_TITLE = 80


def register(extension: Extension, named: Collection[str] = ()) -> None:
    """Add what the extension brings; raises ConfigurationError, and adds nothing then.

    `named` are the names of the operator's providers: they are taken, and an offer may use them.
    """
    with nothing_if_it_fails():
        _check_name("An extension", extension.name)
        for tool in extension.tools:
            if not isinstance(tool, Tool):
                raise ConfigurationError(f"{tool!r} is not a Tool; decorate a function by @tool().")
            _add_tools(tool.name, _only(tool))
        for name, make in extension.toolsets.items():
            _add_tools(name, make)
        for policy in extension.policies:
            _add_policy(policy)
        for name, made in extension.providers.items():
            _check_name("A provider", name)
            if name in (*provider_names(), *named):
                raise ConfigurationError(f"There is a provider {name!r} already.")
            BROUGHT[name] = made
        _check_offers(extension, named)


@contextmanager
def nothing_if_it_fails() -> Iterator[None]:
    """Leave tools, policies and providers as they were if the block raises anything."""
    registries: tuple[dict[str, Any], ...] = (TOOLS, POLICIES, BROUGHT)
    before = [(registry, dict(registry)) for registry in registries]
    try:
        yield
    except BaseException:
        for registry, content in before:
            registry.clear()
            registry.update(content)
        catalogue.forget()
        raise


def _only(tool: Tool) -> catalogue.MakeTools:
    return lambda setup: (tool,)


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise ConfigurationError(
            f"{what} cannot be called {name!r}: a name is a-z and 0-9, with single _ between, "
            f"{_LONGEST} characters at most."
        )


def _add_tools(name: str, make: catalogue.MakeTools) -> None:
    _check_name("A tool", name)
    taken = {ALL, *OWN_STEPS, *TOOLS, *(tool["name"] for tool in catalogue.described(TOOLS))}
    catalogue.bring(name, make)
    brought = [tool["name"] for tool in catalogue.described([name])]
    for one in (name, *brought):
        _check_name("A tool", one)
        if one in taken:
            raise ConfigurationError(f"There is a tool {one!r} already.")
        if one != name and not one.startswith(f"{name}_"):
            raise ConfigurationError(f"The toolset {name!r} has a tool {one!r}: call it {name}_….")
    if len(set(brought)) < len(brought):
        raise ConfigurationError(f"Two tools of {name!r} have one name.")


def _add_policy(policy: Declared) -> None:
    if not isinstance(policy, Declared):
        raise ConfigurationError(f"{policy!r} is not a policy; declare a function by @policy().")
    _check_name("A policy", policy.name)
    if policy.name in POLICIES:
        raise ConfigurationError(f"There is a policy {policy.name!r} already.")
    POLICIES[policy.name] = policy


def _check_offers(extension: Extension, named: Collection[str]) -> None:
    """Build each version once, so that what cannot run is never offered."""
    slugs = [offer.slug for offer in extension.offers]
    for offer in extension.offers:
        _check_name("An offer", offer.slug)
        if slugs.count(offer.slug) > 1:
            raise ConfigurationError(f"Two of its offers have the slug {offer.slug!r}.")
        if len(f"{extension.name}-{offer.slug}") > _LONGEST_SLUG:
            raise ConfigurationError(
                f"The names {extension.name!r} and {offer.slug!r} have more than "
                f"{_LONGEST_SLUG - 1} characters together."
            )
        if not 0 < len(offer.name.strip()) <= _LONGEST_TITLE:
            raise ConfigurationError(
                f"The offer {offer.slug!r} needs a name of 1 to {_LONGEST_TITLE} characters."
            )
        if offer.spec.model.provider not in (*provider_names(), *named):
            raise ConfigurationError(
                f"The offer {offer.slug!r} names a provider that there is none of: "
                f"{offer.spec.model.provider!r}."
            )
        here = [name for name in offer.spec.tools if not is_mcp(name)]
        kit = toolkit(here, find_turns=lambda query: (), setup=ToolSetup())
        try:
            model = Model(ScriptedProvider(()), Control())
            build(offer.spec, Parts(model, kit, offer.spec.limits))
        finally:
            kit.close()
