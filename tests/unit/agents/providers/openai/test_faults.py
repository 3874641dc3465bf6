"""Every fault of a line or a server ends in the error that names it, in bounded time."""

import itertools
import json

import pytest

from agents.control import Control
from agents.errors import (
    AgentError,
    ProviderBusy,
    ProviderGarbled,
    ProviderRefused,
    ProviderUnreachable,
)
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.openai.failures import failure_of
from tests.unit.agents.providers.wire import Wire

NOBODY = "http://127.0.0.1:1/v1"


def test_nobody_there_is_unreachable(ask: Ask) -> None:
    failure = failure_of(ask, NOBODY)

    assert isinstance(failure, ProviderUnreachable)
    assert "127.0.0.1:1: " in str(failure)
    assert "refused" in str(failure)


def test_a_name_that_nobody_can_have_is_unreachable(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")

    failure = failure_of(ask, "http://a..name.invalid/v1")

    assert isinstance(failure, ProviderUnreachable)


def test_a_certificate_nobody_vouches_for_is_unreachable(ask: Ask, tls_wire: Wire) -> None:
    failure = failure_of(ask, tls_wire.base_url)

    assert isinstance(failure, ProviderUnreachable)
    assert "certificate" in str(failure)
    assert tls_wire.requests == []


def test_a_server_that_hangs_up_at_once_is_unreachable(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.CLOSE)

    assert isinstance(failure_of(ask, wire.base_url), ProviderUnreachable)


def test_a_server_that_speaks_no_http_is_garbled(ask: Ask, wire: Wire) -> None:
    wire.answers(b"220 mail.example ESMTP\r\n\r\n", wire.CLOSE)

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)


@pytest.mark.parametrize(
    ("status", "body", "hint"),
    [
        ("401 Unauthorized", '{"error": {"message": "Wrong key."}}', "Wrong key. Check OPENAI_API"),
        ("403 Forbidden", '{"message": "Not for you."}', "Not for you. Check OPENAI_API_KEY"),
        ("404 Not Found", '{"error": "no model m"}', "no model m Check TURNSTONE_MODEL"),
        ("400 Bad Request", '{"detail": "maximum context length"}', "maximum context length"),
        ("400 Bad Request", '{"detail": [{"msg": "too long"}]}', '"msg": "too long"'),
        ("413 Payload Too Large", "", "status 413"),
        ("307 Temporary Redirect", "", "final address"),
        ("429 Too Many Requests", '{"error": {"code": "insufficient_quota"}}', "no credit"),
        ("418 Teapot", "<html><b>secret</b>", "HTML page"),
    ],
)
def test_a_refusal_is_told_in_words_that_help(
    ask: Ask, wire: Wire, status: str, body: str, hint: str
) -> None:
    wire.answers(wire.page(status, body))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderRefused)
    assert hint in str(failure)
    assert len(wire.requests) == 1


def test_a_long_refusal_is_clamped(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.page("400 Bad Request", "no " * 15_000))

    assert len(str(failure_of(ask, wire.base_url))) < 700


def test_an_error_that_never_ends_is_not_read_to_its_end(ask: Ask, wire: Wire) -> None:
    head = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    wire.answers(head, itertools.repeat(b"no " * 10_000))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderRefused)
    assert wire.gone.wait(10)


@pytest.mark.parametrize(
    ("status", "expected"), [("400 Bad Request", ProviderRefused), ("200 OK", ProviderGarbled)]
)
def test_what_cannot_be_decompressed_does_no_harm(
    ask: Ask, wire: Wire, status: str, expected: type[AgentError]
) -> None:
    wire.answers(wire.page(status, "this is no gzip", "Content-Encoding: gzip"))

    assert isinstance(failure_of(ask, wire.base_url), expected)


def test_an_error_that_stays_silent_is_not_waited_for(ask: Ask, wire: Wire) -> None:
    wire.answers(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 99\r\n\r\ntoo long", wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=30))

    assert isinstance(failure, ProviderRefused)
    assert "too long" in str(failure)
    assert wire.gone.wait(10)


@pytest.mark.parametrize("status", ["500 Oops", "503 Service Unavailable", "408 Request Timeout"])
def test_a_failing_server_is_busy_after_three_tries(ask: Ask, wire: Wire, status: str) -> None:
    wire.answers(wire.page(status, "out of memory", "Retry-After: 0"))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderBusy)
    assert "out of memory" in str(failure)
    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><html><body>Sign in</body></html>",
        "\n\n <html>",
        "Bad gateway, sorry.",
        "",
        "{}",
        '{"choices": 3}',
        '{"choices": [{"message": {"content": 7}}]}',
        '{"half": ',
        '{"choices": [{"message": {"content": "no end"}}]}\n{"choices": []}',
    ],
)
def test_a_success_that_is_no_reply_is_garbled(ask: Ask, wire: Wire, body: str) -> None:
    wire.answers(wire.page("200 OK", body, "Content-Type: text/html"))

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)


def test_the_key_is_sent_and_shown_to_nobody_else(ask: Ask, wire: Wire, key: str) -> None:
    wire.answers(wire.page("401 Unauthorized", json.dumps({"error": f"Wrong key: {key}."})))

    failure = failure_of(ask, wire.base_url)

    head, body = wire.requests[0]
    assert f"Bearer {key}" in head
    assert key not in json.dumps(body)
    assert key not in str(failure)
    assert "Wrong key: [the key]." in str(failure)
