"""A call is tried again where that is safe, and a server's gaps are learnt once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ConfigurationError, ProviderBusy, ProviderRefused
from agents.events import ModelCalled
from agents.model.model import Model
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.wire import Wire


def test_a_server_that_recovers_is_asked_again(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.page("503 Loading", "loading the model", "Retry-After: 0"))
    wire.answers(wire.CLOSE)
    wire.answers(wire.STREAM, wire.says("ready"), wire.ends())

    assert ask(wire.base_url).answer == "ready"


def test_a_reply_that_has_begun_is_never_begun_again(ask: Ask, wire: Wire) -> None:
    error = wire.event({"error": {"message": "overloaded", "code": 503}})
    wire.answers(wire.STREAM, wire.says("so far "), error, wire.ends())

    with pytest.raises(ProviderBusy):
        ask(wire.base_url)

    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    ("parameter", "error"),
    [
        ("response_format", "'response_format.type' must be 'json_schema' or 'text'"),
        ("stream_options", "[{'loc': ('body', 'stream_options'), 'msg': 'not permitted'}]"),
        ("stop", "Unsupported parameter: 'stop' is not supported with this model."),
        ("stream", "Unsupported value: 'stream' does not support true with this model."),
    ],
)
def test_a_parameter_that_the_server_does_not_know_is_left_out_from_then_on(
    ask: Ask, wire: Wire, parameter: str, error: str
) -> None:
    wire.answers(wire.page("400 Bad Request", f'{{"error": "{error}"}}'))
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    first = ask(wire.base_url, as_json=True, stop=["Observation:"])
    second = ask(wire.base_url, as_json=True, stop=["Observation:"])

    assert (first.answer, second.answer) == ("fine", "fine")
    assert [parameter in body for _, body in wire.requests] == [True, False, False]
    assert f'"{parameter}"' not in first.posted
    assert '"messages"' in first.posted
    assert second.posted == second.given


def test_the_record_of_a_call_holds_what_was_posted_in_the_end(
    provider_of: ProviderOf, wire: Wire
) -> None:
    wire.answers(wire.page("400 Bad Request", '{"error": "stream_options: not permitted"}'))
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())
    model = Model(provider_of(wire.base_url), Control(30))

    *_, called = model.stream([Message(role=Role.USER, content="hello")], purpose=Purpose.THINK)

    assert isinstance(called, ModelCalled)
    assert json.loads(called.call.request) == wire.requests[-1][1]
    assert called.call.reply == "fine"


def test_two_gaps_of_one_server_are_learnt_one_after_the_other(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.page("422 Unprocessable", '{"detail": "stream_options: not permitted"}'))
    wire.answers(wire.page("400 Bad Request", '{"error": "response_format is unknown"}'))
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    assert ask(wire.base_url, as_json=True).answer == "fine"
    assert ask(wire.base_url, as_json=True).answer == "fine"

    assert len(wire.requests) == 4


def test_the_limit_of_tokens_gets_the_name_that_the_model_knows(ask: Ask, wire: Wire) -> None:
    error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    wire.answers(wire.page("400 Bad Request", f'{{"error": {{"message": "{error}"}}}}'))
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    ask(wire.base_url, max_tokens=5)

    assert wire.requests[1][1]["max_completion_tokens"] == 5
    assert "max_tokens" not in wire.requests[1][1]


def test_a_setting_that_somebody_chose_is_not_left_out(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.page("400 Bad Request", """{"error": "'temperature' must be 1"}"""))

    with pytest.raises(ProviderRefused, match="'temperature' must be 1"):
        ask(wire.base_url, temperature=0.2)

    assert len(wire.requests) == 1


def test_calls_one_after_the_other_share_a_connection(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    for _ in range(3):
        ask(wire.base_url)

    assert (len(wire.requests), wire.connections) == (3, 1)


def test_many_threads_share_one_client(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(lambda _: ask(wire.base_url), range(64)))

    assert [reply.answer for reply in replies] == ["fine"] * 64


def test_variables_of_the_sdk_send_nothing_to_any_server(
    ask: Ask, wire: Wire, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer x\napi-key: header-secret")
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    ask(wire.base_url)

    head = wire.requests[0][0]
    assert f"Bearer {key}" in head
    assert "secret" not in head


@pytest.mark.parametrize("key", ["sk-a\nb", "sk a", "sk-ü"])
def test_a_key_that_no_header_can_hold_is_named_without_being_shown(
    provider_of: ProviderOf, key: str
) -> None:
    with pytest.raises(ConfigurationError) as failure:
        provider_of("http://127.0.0.1:9/v1", key=key)

    assert key not in str(failure.value)


def test_a_provider_shows_no_key(provider_of: ProviderOf, key: str) -> None:
    provider = provider_of("http://127.0.0.1:9/v1")

    assert key not in repr(provider)
    assert key not in repr(vars(provider))


def test_a_server_elsewhere_is_called_through_the_proxy_of_the_environment(
    ask: Ask, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{wire.place}")
    monkeypatch.setenv("no_proxy", "elsewhere.example")
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    reply = ask("http://models.example/v1")

    assert reply.answer == "fine"
    assert wire.requests[0][0].startswith("POST http://models.example/v1/chat/completions ")


def test_a_server_of_this_machine_is_called_past_the_proxy(
    ask: Ask, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    wire.answers(wire.STREAM, wire.says("fine"), wire.ends())

    assert ask(wire.base_url).answer == "fine"


def test_a_proxy_of_another_kind_is_named(
    provider_of: ProviderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "elsewhere.example")

    with pytest.raises(ConfigurationError, match="proxy"):
        provider_of("https://other-models.example/v1")
