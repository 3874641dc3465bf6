"""A name that is taken is refused in words, and so is an offer that could not run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from agents.errors import ConfigurationError
from agents.extensions.extension import Extension, Offer
from agents.extensions.registration import register
from agents.policies import POLICIES
from agents.policies.spec import PolicySpec
from agents.providers.base import Provider
from agents.providers.brought import BROUGHT
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.providers.demo import DemoProvider
from agents.tools.catalogue import TOOLS, toolkit
from agents.tools.setup import ToolSetup, tool_setup
from agents.tools.spec import Tool, tool


@tool()
def shelf(place: str) -> str:
    """Tell what is on a shelf."""
    return place


def named(name: str) -> Tool:
    return replace(shelf, name=name)


def made(choice: ModelChoice, environment: Mapping[str, str]) -> Provider:
    return DemoProvider()


def offer(**fields: Any) -> Offer:
    spec = {"policy": "explicit"} | fields.pop("spec", {})
    told = {"slug": "mine", "name": "Mine", "description": ""} | fields
    return Offer(spec=PolicySpec.model_validate(spec), **told)


@pytest.mark.parametrize(
    ("brought", "why"),
    [
        ({"tools": (named("calculator"),)}, "There is a tool 'calculator' already."),
        ({"tools": (named("wikipedia_search"),)}, "There is a tool 'wikipedia_search' already."),
        ({"tools": (named("fail"),)}, "There is a tool 'fail' already."),
        ({"tools": (named("mcp"),)}, "There is a tool 'mcp' already."),
        ({"tools": (shelf, shelf)}, "There is a tool 'shelf' already."),
        ({"tools": (named("a__b"),)}, "A tool cannot be called 'a__b'"),
        ({"tools": (named("Shelf"),)}, "A tool cannot be called 'Shelf'"),
        ({"tools": (lambda: "",)}, "is not a Tool"),
        ({"toolsets": {"browser": lambda setup: (shelf,)}}, "There is a tool 'browser' already."),
        ({"toolsets": {"rack": lambda setup: (shelf,)}}, "has a tool 'shelf': call it rack_"),
        ({"toolsets": {"shelf": lambda setup: (shelf, shelf)}}, "Two tools of 'shelf'"),
        ({"policies": (POLICIES["explicit"],)}, "There is a policy 'explicit' already."),
        ({"policies": (made,)}, "is not a policy"),
        ({"providers": {"openai": made}}, "There is a provider 'openai' already."),
        ({"providers": {"demo": made}}, "There is a provider 'demo' already."),
        ({"providers": {"My own": made}}, "A provider cannot be called 'My own'"),
        ({"offers": (offer(), offer())}, "Two of its offers have the slug 'mine'."),
        ({"offers": (offer(name=" "),)}, "needs a name of 1 to 80 characters"),
        ({"offers": (offer(slug="m" * 40),), "name": "n" * 20}, "more than 49 characters together"),
        ({"offers": (offer(spec={"policy": "gone"}),)}, "There is no policy 'gone'."),
        ({"offers": (offer(spec={"tools": ["gone"]}),)}, "There is no tool 'gone'"),
        ({"offers": (offer(spec={"settings": {"speed": 9}}),)}, "speed"),
        ({"offers": (offer(spec={"approve": ["gone"]}),)}, "`approve` names 'gone'"),
        ({"offers": (offer(spec={"model": {"provider": "gone"}}),)}, "'gone'"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(brought: dict[str, Any], why: str) -> None:
    before = set(TOOLS), dict(POLICIES), dict(BROUGHT)

    with pytest.raises(ConfigurationError, match=re.escape(why)):
        register(Extension(**{"name": "rack"} | brought))

    assert (set(TOOLS), dict(POLICIES), dict(BROUGHT)) == before


def test_two_extensions_may_not_bring_one_name() -> None:
    register(Extension(name="one", tools=(shelf,), providers={"clerk": made}))

    for brought in ({"tools": (shelf,)}, {"providers": {"clerk": made}}):
        with pytest.raises(ConfigurationError, match="already"):
            register(Extension(name="two", **brought))


def test_an_offer_of_a_server_that_is_elsewhere_is_no_mistake() -> None:
    register(Extension(name="one", offers=(offer(spec={"tools": ["files__*", "python_repl"]}),)))


def test_a_toolset_is_made_for_each_run_and_reads_its_own_variables() -> None:
    made_of: list[Mapping[str, str]] = []

    def rack(setup: ToolSetup) -> Sequence[Tool]:
        made_of.append(setup.extensions)
        return (named("rack_open"),)

    register(Extension(name="one", toolsets={"rack": rack}))
    setup = tool_setup({"TURNSTONE_EXTENSION_RACK": "7", "OPENAI_API_KEY": "sk"})
    for _ in range(2):
        assert toolkit(["rack"], find_turns=lambda _: (), setup=setup).names == ("rack_open",)

    assert made_of == [{}, *[{"TURNSTONE_EXTENSION_RACK": "7"}] * 2]


def test_a_toolset_that_cannot_be_made_for_a_run_is_said() -> None:
    def rack(setup: ToolSetup) -> Sequence[Tool]:
        return (named("rack_open"),) if not setup.extensions else (named(str(1 / 0)),)

    register(Extension(name="one", toolsets={"rack": rack}))

    setup = tool_setup({"TURNSTONE_EXTENSION_RACK": "7"})

    with pytest.raises(ConfigurationError, match="The tools 'rack' cannot be made: division"):
        toolkit(["rack"], find_turns=lambda _: (), setup=setup)


def test_a_provider_is_made_of_the_choice_and_the_environment() -> None:
    class Clerk(DemoProvider):
        name = "clerk"

        def __init__(self, model: str) -> None:
            super().__init__()
            self.model = model

    register(
        Extension(name="one", providers={"clerk": lambda choice, env: Clerk(env[choice.model])})
    )

    assert connect(ModelChoice(provider="clerk", model="m"), {"m": "n"}).model == "n"
    with pytest.raises(ConfigurationError, match="The provider 'clerk' cannot be made: 'x'"):
        connect(ModelChoice(provider="clerk", model="x"), {"m": "n"})


def test_a_provider_of_another_name_is_refused() -> None:
    register(Extension(name="one", providers={"clerk": made}))

    with pytest.raises(ConfigurationError, match="'clerk' is none of that name"):
        connect(ModelChoice(provider="clerk"), {})


def test_a_provider_that_is_gone_is_said() -> None:
    with pytest.raises(ConfigurationError, match=r"no provider 'clerk'.* is not loaded here"):
        connect(ModelChoice(provider="clerk"), {})


def test_the_name_of_an_operators_provider_is_taken_and_an_offer_may_use_it() -> None:
    before = dict(BROUGHT)

    with pytest.raises(ConfigurationError, match="There is a provider 'east' already"):
        register(Extension(name="rack", providers={"east": made}), ("east",))
    assert before == BROUGHT

    register(
        Extension(name="rack", offers=(offer(spec={"model": {"provider": "east"}}),)), ("east",)
    )
