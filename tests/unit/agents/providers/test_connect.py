"""A policy gets the model it asks for, and never a key that is not its server's."""

import json

import pytest

from agents.control import Control
from agents.errors import ConfigurationError
from agents.providers.base import Token
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.providers.vendors import VENDORS, RemoteName
from tests.unit.agents.providers.wire import Wire

NOTHING = {"TURNSTONE_LOCAL_SERVERS": "none"}


def heads_after_a_call(wire: Wire, choice: ModelChoice, environment: dict[str, str]) -> str:
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())
    provider = connect(choice, environment)
    list(provider.stream('{"messages": []}', Control(30)))
    return wire.requests[-1][0].lower()


def test_auto_takes_the_server_of_the_environment() -> None:
    provider = connect(ModelChoice(), {"OPENAI_API_KEY": "sk-x", "TURNSTONE_MODEL": "big"})

    assert (provider.name, provider.model) == ("openai", "big")


def test_auto_takes_a_local_server_that_answers(wire: Wire) -> None:
    wire.answers(wire.page("200 OK", json.dumps({"data": [{"id": "small"}]})))

    provider = connect(ModelChoice(), {"TURNSTONE_LOCAL_SERVERS": wire.base_url})

    assert (provider.name, provider.model) == ("openai", "small")


def test_auto_falls_back_to_the_demo_model() -> None:
    provider = connect(ModelChoice(), NOTHING)

    assert (provider.name, provider.model) == ("demo", "rule-based")


def test_a_policy_may_name_another_model_of_the_same_server() -> None:
    provider = connect(ModelChoice(model="other"), {"OPENAI_API_KEY": "sk-x"})

    assert provider.model == "other"


def test_the_demo_model_is_had_by_name_whatever_the_environment() -> None:
    assert connect(ModelChoice(provider="demo"), {"OPENAI_API_KEY": "sk-x"}).name == "demo"


def test_a_script_goes_on_at_its_position() -> None:
    choice = ModelChoice(provider="scripted", script=({"say": "one"}, {"say": "two"}))

    token, _ = connect(choice, {}, position=1).stream("", Control())

    assert token == Token(text="two")


def test_an_openai_policy_without_a_server_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match=r"OPENAI_API_KEY.*Ollama"):
        connect(ModelChoice(provider="openai"), NOTHING)


def test_a_server_without_a_model_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="TURNSTONE_MODEL"):
        connect(ModelChoice(), {"OPENAI_BASE_URL": "https://models.example/v1"})


@pytest.mark.parametrize("provider", ["openai", "auto"])
def test_the_key_is_not_sent_to_a_server_that_a_policy_names(wire: Wire, provider: str) -> None:
    choice = ModelChoice.model_validate(
        {"provider": provider, "base_url": wire.base_url, "model": "m"}
    )
    environment = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "https://models.example/v1"}

    head = heads_after_a_call(wire, choice, environment)

    assert "sk-secret" not in head
    assert "bearer none" in head


@pytest.mark.parametrize("suffix", ["", "/"])
def test_the_key_is_sent_to_its_own_server_however_that_is_spelt(wire: Wire, suffix: str) -> None:
    choice = ModelChoice(provider="openai", base_url=wire.base_url + suffix, model="m")
    environment = {
        "OPENAI_API_KEY": "sk-mine",
        "OPENAI_BASE_URL": wire.base_url.replace("http", "HTTP") + "/",
        "TURNSTONE_MODEL": "m",
    }

    assert "bearer sk-mine" in heads_after_a_call(wire, choice, environment)


@pytest.mark.parametrize(
    "base_url",
    [
        "https://models.example:444/v1",
        "http://models.example/v1",
        "https://models.example/v2",
        "https://models.example.evil.example/v1",
        "https://sub.models.example/v1",
    ],
)
def test_a_server_that_only_looks_alike_is_another_server(base_url: str) -> None:
    environment = {
        "OPENAI_API_KEY": "sk-secret",
        "OPENAI_BASE_URL": "https://models.example/v1",
        "TURNSTONE_MODEL": "big",
    }

    with pytest.raises(ConfigurationError, match="Which model to ask is not known: the policy"):
        connect(ModelChoice(provider="openai", base_url=base_url), environment)


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    choice = ModelChoice(provider="openai", base_url="http://me:secret@127.0.0.1/v1", model="m")

    with pytest.raises(ConfigurationError, match="base_url") as failure:
        connect(choice, NOTHING)

    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_a_policy_may_name_the_dialect_whatever_else_is_configured(provider: RemoteName) -> None:
    environment = {"OPENAI_API_KEY": "sk-x", VENDORS[provider].keys[0]: "sk-y"}

    got = connect(ModelChoice(provider=provider, model="other"), environment)

    assert (got.name, got.model) == (provider, "other")


def test_an_openai_policy_takes_a_local_server_though_another_vendor_is_configured(
    wire: Wire,
) -> None:
    wire.answers(wire.page("200 OK", json.dumps({"data": [{"id": "small"}]})))
    environment = {"ANTHROPIC_API_KEY": "sk-x", "TURNSTONE_LOCAL_SERVERS": wire.base_url}

    provider = connect(ModelChoice(provider="openai"), environment)

    assert (provider.name, provider.model) == ("openai", "small")


@pytest.mark.parametrize(
    ("provider", "variables"),
    [("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY or GOOGLE_API_KEY")],
)
def test_a_vendor_that_is_not_configured_says_what_to_set(
    provider: RemoteName, variables: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"Set {variables}"):
        connect(ModelChoice(provider=provider, model="m"), {"OPENAI_API_KEY": "sk-x"})


def test_ollama_is_asked_on_this_machine_without_any_setting() -> None:
    provider = connect(ModelChoice(provider="ollama", model="qwen3:8b"), {})

    assert (provider.name, provider.model) == ("ollama", "qwen3:8b")


@pytest.mark.parametrize("host", ["models example", "a\x01b", "☃-.example"])
def test_an_address_that_is_none_is_refused(host: str) -> None:
    choice = ModelChoice(provider="openai", base_url=f"http://{host}/v1", model="m")

    with pytest.raises(ConfigurationError):
        connect(choice, NOTHING)
