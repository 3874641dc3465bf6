"""A named provider is asked at its address with its key, and nowhere else."""

import pytest

from agents.control import Control
from agents.errors import ConfigurationError, UnknownProvider
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NamedProviders
from tests.unit.agents.providers.wire import Wire

NOTHING = {"TURNSTONE_LOCAL_SERVERS": "none"}
KEYS = NOTHING | {"EAST_API_KEY": "sk-east", "WEST_API_KEY": "sk-west"}


def named(**fields: object) -> NamedProvider:
    given = {"name": "east", "dialect": "openai", "key": "EAST_API_KEY", "models": ["m", "n"]}
    return NamedProvider.model_validate(given | fields)


def test_it_is_sent_its_own_key(wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())
    providers = NamedProviders(
        [
            named(address=wire.base_url),
            named(name="west", key="WEST_API_KEY", address=wire.base_url),
        ]
    )

    provider = connect(ModelChoice(provider="west"), KEYS, providers)
    list(provider.stream('{"messages": []}', Control(30)))

    head = wire.requests[-1][0].lower()
    assert "bearer sk-west" in head
    assert "sk-east" not in head
    assert (provider.name, provider.model) == ("west", "m")


def test_auto_takes_the_first_that_has_its_key_where_no_variable_names_a_server() -> None:
    providers = NamedProviders([named(name="north", key="NORTH_API_KEY"), named()])

    assert connect(ModelChoice(), KEYS, providers).name == "east"
    assert connect(ModelChoice(), KEYS | {"OPENAI_API_KEY": "k"}, providers).name == "openai"


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match="needs the variable EAST_API_KEY"):
        connect(ModelChoice(provider="east"), NOTHING, NamedProviders([named()]))


def test_one_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(UnknownProvider, match=r"no provider 'north'.* ollama, east"):
        connect(ModelChoice(provider="north"), KEYS, NamedProviders([named()]))


def test_a_policy_cannot_send_its_key_elsewhere() -> None:
    choice = ModelChoice(provider="east", base_url="http://127.0.0.1:9/v1")

    with pytest.raises(ConfigurationError, match="at another address than its own"):
        connect(choice, KEYS, NamedProviders([named()]))


def test_a_second_asks_for_the_same_model_where_it_has_it() -> None:
    assert named().standing_in_for("n") == "n"
    assert named().standing_in_for("other") == "m"
    assert named(models=[]).standing_in_for("other") == "other"
