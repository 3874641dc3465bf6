"""What the environment offers is found, and nothing else is taken for a model server."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agents.errors import ConfigurationError
from agents.providers.choice import Credentials
from agents.providers.discovery import discover
from agents.providers.vendors import VENDORS, RemoteName
from tests.unit.agents.providers.wire import Wire

NOBODY = "http://127.0.0.1:1/v1"


@pytest.fixture
def other(wire: Wire) -> Iterator[Wire]:
    """Open a second server."""
    server = type(wire)()
    yield server
    server.close()


def models(*names: str) -> str:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]})


def offer(wire: Wire, *names: str) -> None:
    wire.answers(wire.page("200 OK", models(*names)))


def found(environment: dict[str, str]) -> Credentials:
    credentials = discover(environment)
    assert credentials is not None
    return credentials


def test_an_empty_environment_without_local_servers_offers_nothing() -> None:
    assert discover({"TURNSTONE_LOCAL_SERVERS": "none"}) is None


def test_a_key_alone_is_for_openai_and_its_documented_model() -> None:
    credentials = found({"OPENAI_API_KEY": " sk-x \n"})

    assert credentials.base_url == "https://api.openai.com/v1"
    assert credentials.api_key.get_secret_value() == "sk-x"
    assert credentials.model == VENDORS["openai"].model
    assert credentials.found == "OPENAI_API_KEY in the environment"


KEYS = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "GEMINI_API_KEY": "sk-gemini",
    "GOOGLE_API_KEY": "sk-google",
    "OLLAMA_API_KEY": "sk-ollama",
}


@pytest.mark.parametrize(
    ("first", "provider", "base_url"),
    [
        (0, "openai", "https://api.openai.com/v1"),
        (1, "anthropic", "https://api.anthropic.com"),
        (2, "gemini", "https://generativelanguage.googleapis.com/v1beta"),
        (3, "gemini", "https://generativelanguage.googleapis.com/v1beta"),
        (4, "ollama", "https://ollama.com"),
    ],
)
def test_of_several_keys_the_first_in_the_documented_order_is_taken(
    first: int, provider: str, base_url: str
) -> None:
    names = list(KEYS)[first:]

    credentials = found({name: KEYS[name] for name in reversed(names)})

    assert (credentials.provider, credentials.base_url) == (provider, base_url)
    assert credentials.api_key.get_secret_value() == KEYS[names[0]]
    assert credentials.model == VENDORS[credentials.provider].model
    assert credentials.found == f"{names[0]} in the environment"


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_each_vendor_can_be_had_at_another_address_and_with_another_model(
    provider: RemoteName,
) -> None:
    vendor = VENDORS[provider]

    credentials = found(
        {
            vendor.keys[0]: "sk-x",
            vendor.address: "https://models.example/v1",
            "TURNSTONE_MODEL": "big",
        }
    )

    assert (credentials.provider, credentials.model) == (provider, "big")
    assert credentials.base_url == "https://models.example/v1"


def test_a_named_ollama_server_of_this_machine_says_which_model_it_has(wire: Wire) -> None:
    offer(wire, "qwen3:8b")

    credentials = found({"OLLAMA_BASE_URL": f"http://{wire.place}"})

    assert (credentials.provider, credentials.model) == ("ollama", "qwen3:8b")
    assert wire.requests[0][0].startswith("GET /v1/models ")


def test_a_key_goes_with_the_server_and_the_model_named_beside_it() -> None:
    credentials = found(
        {
            "OPENAI_API_KEY": "sk-x",
            "OPENAI_BASE_URL": "https://models.example/v1",
            "TURNSTONE_MODEL": "big",
        }
    )

    assert (credentials.base_url, credentials.model) == ("https://models.example/v1", "big")


def test_a_remote_server_without_a_model_is_not_asked_for_one() -> None:
    credentials = found({"OPENAI_BASE_URL": "https://models.example/v1"})

    assert credentials.model == ""
    assert credentials.api_key.get_secret_value() == "none"
    assert credentials.found == "OPENAI_BASE_URL in the environment"


def test_a_named_server_of_this_machine_says_which_model_it_has(wire: Wire) -> None:
    offer(wire, "nomic-embed-text", "qwen3:8b")

    credentials = found({"OPENAI_BASE_URL": wire.base_url, "OPENAI_API_KEY": "sk-x"})

    assert credentials.model == "qwen3:8b"
    assert "authorization: bearer sk-x" in wire.requests[0][0].lower()


def test_a_local_server_is_found_by_asking_for_its_models(wire: Wire) -> None:
    offer(wire, "llama3.2:latest")

    credentials = found({"TURNSTONE_LOCAL_SERVERS": f"{NOBODY}, {wire.base_url}/"})

    assert credentials.base_url == wire.base_url
    assert credentials.model == "llama3.2:latest"
    assert credentials.found == f"{wire.base_url} on this machine (llama3.2:latest)"
    assert wire.requests[0][0].startswith("GET /v1/models ")
    assert "authorization" not in wire.requests[0][0].lower()


def test_the_first_server_of_the_list_wins(wire: Wire, other: Wire) -> None:
    offer(wire, "one")
    offer(other, "two")

    credentials = found({"TURNSTONE_LOCAL_SERVERS": f"{other.base_url} {wire.base_url}"})

    assert credentials.model == "two"


def test_the_server_that_has_the_wanted_model_wins(wire: Wire, other: Wire) -> None:
    offer(wire, "one")
    offer(other, "zero", "llama3.2:latest")

    credentials = found(
        {
            "TURNSTONE_LOCAL_SERVERS": f"{wire.base_url} {other.base_url}",
            "TURNSTONE_MODEL": "llama3.2",
        }
    )

    assert (credentials.base_url, credentials.model) == (other.base_url, "llama3.2:latest")


def test_a_wanted_model_that_is_not_there_is_not_passed_over_in_silence(wire: Wire) -> None:
    offer(wire, "one")

    credentials = found({"TURNSTONE_LOCAL_SERVERS": wire.base_url, "TURNSTONE_MODEL": "another"})

    assert credentials.model == "one"
    assert credentials.found.endswith("(one; another is not there)")


@pytest.mark.parametrize(
    "name",
    [
        "nomic-embed-text:latest",
        "text-embedding-3-small",
        "whisper-large-v3",
        "gpt-4o-mini-tts",
        "bge-m3",
        "all-minilm",
        "Qwen3-Reranker-4B",
        "dall-e-3",
    ],
)
def test_a_model_that_cannot_chat_is_not_chosen(wire: Wire, name: str) -> None:
    offer(wire, name)

    assert discover({"TURNSTONE_LOCAL_SERVERS": wire.base_url}) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("200 OK", "<html>Turnstone</html>"),
        ("404 Not Found", models("one")),
        ("401 Unauthorized", models("one")),
        ("302 Found", ""),
        ("500 Oops", models("one")),
        ("200 OK", "{}"),
        ("200 OK", "[]"),
        ("200 OK", "7"),
        ("200 OK", '{"data": {"id": "one"}}'),
        ("200 OK", '{"data": [{"name": "one"}, {"id": 7}, "one"]}'),
        ("200 OK", '{"data": []}'),
        ("200 OK", "[" * 100_000),
        ("200 OK", '{"data": [{"id": "explicit", "owned_by": "turnstone"}]}'),
    ],
)
def test_what_is_no_list_of_models_is_no_model_server(wire: Wire, status: str, body: str) -> None:
    wire.answers(wire.page(status, body, "Location: http://127.0.0.1:1/"))

    assert discover({"TURNSTONE_LOCAL_SERVERS": wire.base_url}) is None


def test_what_never_ends_is_no_model_server(wire: Wire) -> None:
    wire.answers(b"HTTP/1.1 200 OK\r\n\r\n", itertools.repeat(b" " * 10_000))

    assert discover({"TURNSTONE_LOCAL_SERVERS": wire.base_url}) is None


def test_what_never_answers_is_no_model_server(wire: Wire) -> None:
    wire.answers(wire.HOLD)

    assert discover({"TURNSTONE_LOCAL_SERVERS": wire.base_url}) is None


def test_what_speaks_no_http_is_no_model_server(wire: Wire) -> None:
    wire.answers(b"-ERR unknown command\r\n\r\n", wire.CLOSE)

    assert discover({"TURNSTONE_LOCAL_SERVERS": wire.base_url}) is None


def test_a_local_server_is_asked_past_any_proxy(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, NOBODY)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    offer(wire, "one")

    assert found({"TURNSTONE_LOCAL_SERVERS": wire.base_url}).model == "one"


@pytest.mark.parametrize(
    "environment",
    [
        {"TURNSTONE_LOCAL_SERVERS": "http://192.168.1.7:11434/v1"},
        {"TURNSTONE_LOCAL_SERVERS": "http://models.example/v1"},
        {"TURNSTONE_LOCAL_SERVERS": "http://127.0.0.1.example/v1"},
        {"TURNSTONE_LOCAL_SERVERS": "11434"},
        {"OPENAI_BASE_URL": "models.example/v1"},
        {"OPENAI_BASE_URL": "ftp://models.example/v1"},
        {"OPENAI_BASE_URL": "http://models.example:port/v1"},
        {"OPENAI_BASE_URL": "http://[::1/v1"},
        {"OPENAI_BASE_URL": "https://me:secret@models.example/v1"},
        {"OPENAI_BASE_URL": "https://models.example/v1?key=secret"},
    ],
)
def test_an_address_that_cannot_be_meant_is_named(environment: dict[str, Any]) -> None:
    (name,) = environment

    with pytest.raises(ConfigurationError, match=name) as failure:
        discover(environment)

    assert "secret" not in str(failure.value)
