"""Every fault of a server or a line ends in the error that names it, in bounded time."""

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Usage
from agents.control import Control
from agents.errors import (
    AgentError,
    OutOfTime,
    ProviderBusy,
    ProviderGarbled,
    ProviderRefused,
    ProviderSilent,
    ProviderTruncated,
    ProviderUnreachable,
)

if TYPE_CHECKING:
    from tests.unit.agents.providers.conftest import Ask, Wire

NOBODY = "http://127.0.0.1:1/v1"


def failure_of(ask: "Ask", base_url: str, control: Control | None = None) -> AgentError:
    with pytest.raises(AgentError) as failure:
        ask(base_url, control=control)
    return failure.value


def test_the_untidy_but_legal_is_read(ask: "Ask", wire: "Wire") -> None:
    face = json.dumps({"choices": [{"delta": {"content": "é😀"}}]}, ensure_ascii=False).encode()
    wire.answers(
        wire.STREAM,
        wire.part(b"\xef\xbb\xbf: waiting\r\n\r\n"),
        wire.event({"choices": []}),
        wire.event({"choices": [{"delta": None}]}),
        wire.event({"choices": [{"delta": {"role": "assistant", "content": None}}]}),
        wire.part(b"data:" + face[:-8]),
        wire.part(face[-8:] + b"\r\n\r\n"),
        wire.event({"choices": [{"delta": {}, "finish_reason": "length"}], "usage": None}),
        wire.event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": "many"}}),
        wire.ends(),
    )

    reply = ask(wire.base_url)

    assert reply.answer == "é😀"
    assert reply.finish.usage == Usage(input_tokens=3, output_tokens=None)


def test_a_character_cut_between_two_chunks_is_joined(ask: "Ask", wire: "Wire") -> None:
    chunk = r'{"choices":[{"delta":{"content":"\ud83d"}}]}'
    other = chunk.replace("d83d", "de00")
    wire.answers(wire.STREAM, wire.event(chunk), wire.event(other), wire.ends())

    assert ask(wire.base_url).answer == "😀"


def test_what_no_text_can_hold_is_replaced(ask: "Ask", wire: "Wire") -> None:
    chunk = r'{"choices":[{"delta":{"content":"a\u0000b\udc00c\ud83d"}}]}'
    wire.answers(wire.STREAM, wire.event(chunk), wire.ends())

    assert ask(wire.base_url).answer == "a\ufffdb\ufffdc\ufffd"


def test_a_server_that_answers_in_one_piece_is_read(ask: "Ask", wire: "Wire") -> None:
    message = {"role": "assistant", "content": "Whole.", "reasoning": "Hm."}
    completion = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    wire.answers(wire.page("200 OK", json.dumps(completion), "Content-Type: application/json"))

    reply = ask(wire.base_url)

    assert (reply.answer, reply.reasoning, reply.finish.stop_reason) == ("Whole.", "Hm.", "stop")
    assert reply.finish.usage == Usage(input_tokens=1, output_tokens=2)


def test_a_reply_is_complete_without_a_last_word_from_the_server(ask: "Ask", wire: "Wire") -> None:
    end = wire.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    wire.answers(wire.STREAM, wire.says("all of it"), end, wire.CUT)

    assert ask(wire.base_url).answer == "all of it"


def test_a_server_that_only_says_done_is_believed(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, wire.says("all of it"), wire.event("[DONE]"), b"0\r\n\r\n")

    assert ask(wire.base_url).answer == "all of it"


def test_a_server_that_never_closes_a_complete_reply_is_not_waited_for(
    ask: "Ask", wire: "Wire"
) -> None:
    end = wire.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    wire.answers(wire.STREAM, wire.says("all of it"), end, wire.HOLD)

    assert ask(wire.base_url, control=Control(30, idle_seconds=30)).answer == "all of it"


def test_nobody_there_is_unreachable(ask: "Ask") -> None:
    failure = failure_of(ask, NOBODY)

    assert isinstance(failure, ProviderUnreachable)
    assert "127.0.0.1:1: " in str(failure)
    assert "refused" in str(failure)


def test_a_name_that_nobody_can_have_is_unreachable(
    ask: "Ask", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")

    failure = failure_of(ask, "http://a..name.invalid/v1")

    assert isinstance(failure, ProviderUnreachable)


def test_a_certificate_nobody_vouches_for_is_unreachable(ask: "Ask", tls_wire: "Wire") -> None:
    failure = failure_of(ask, tls_wire.base_url)

    assert isinstance(failure, ProviderUnreachable)
    assert "certificate" in str(failure)
    assert tls_wire.requests == []


def test_a_server_that_hangs_up_at_once_is_unreachable(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.CLOSE)

    assert isinstance(failure_of(ask, wire.base_url), ProviderUnreachable)


def test_a_server_that_speaks_no_http_is_garbled(ask: "Ask", wire: "Wire") -> None:
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
    ask: "Ask", wire: "Wire", status: str, body: str, hint: str
) -> None:
    wire.answers(wire.page(status, body))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderRefused)
    assert hint in str(failure)
    assert len(wire.requests) == 1


def test_a_long_refusal_is_clamped(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.page("400 Bad Request", "no " * 15_000))

    assert len(str(failure_of(ask, wire.base_url))) < 700


def test_an_error_that_never_ends_is_not_read_to_its_end(ask: "Ask", wire: "Wire") -> None:
    head = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    wire.answers(head, itertools.repeat(b"no " * 10_000))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderRefused)
    assert wire.gone.wait(10)


@pytest.mark.parametrize(
    ("status", "expected"), [("400 Bad Request", ProviderRefused), ("200 OK", ProviderGarbled)]
)
def test_what_cannot_be_decompressed_does_no_harm(
    ask: "Ask", wire: "Wire", status: str, expected: type[AgentError]
) -> None:
    wire.answers(wire.page(status, "this is no gzip", "Content-Encoding: gzip"))

    assert isinstance(failure_of(ask, wire.base_url), expected)


def test_an_error_that_stays_silent_is_not_waited_for(ask: "Ask", wire: "Wire") -> None:
    wire.answers(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 99\r\n\r\ntoo long", wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=30))

    assert isinstance(failure, ProviderRefused)
    assert "too long" in str(failure)
    assert wire.gone.wait(10)


@pytest.mark.parametrize("status", ["500 Oops", "503 Service Unavailable", "408 Request Timeout"])
def test_a_failing_server_is_busy_after_three_tries(ask: "Ask", wire: "Wire", status: str) -> None:
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
def test_a_success_that_is_no_reply_is_garbled(ask: "Ask", wire: "Wire", body: str) -> None:
    wire.answers(wire.page("200 OK", body, "Content-Type: text/html"))

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)


@pytest.mark.parametrize(
    "line",
    [
        '{"choices": [',
        "[]",
        "7",
        "null",
        '{"choices": [7]}',
        '{"choices": [{"delta": {"content": ["a"]}}]}',
        '{"choices": {"delta": {}}}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_chunk_is_garbled(ask: "Ask", wire: "Wire", line: str) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.event(line), wire.ends())

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "slow down", "code": 429}, ProviderBusy),
        ({"message": "try later", "type": "server_error"}, ProviderBusy),
        ({"message": "too long", "code": "context_length_exceeded"}, ProviderRefused),
        ({"message": "no", "type": "invalid_request_error"}, ProviderRefused),
        ({"message": "something"}, ProviderGarbled),
        ("something", ProviderGarbled),
        ({"strange": 1}, ProviderGarbled),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_what_it_says(
    ask: "Ask", wire: "Wire", error: Any, expected: type[AgentError]
) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.event({"error": error}), wire.ends())

    failure = failure_of(ask, wire.base_url)

    assert type(failure) is expected
    assert len(wire.requests) == 1


def test_a_cut_in_the_middle_is_truncated(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.CUT)

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_an_orderly_end_without_a_reason_is_truncated(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, wire.says("so far "), b"0\r\n\r\n")

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_half_a_line_at_the_end_is_truncated(ask: "Ask", wire: "Wire") -> None:
    chunk = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    wire.answers(wire.OPEN_STREAM, chunk + chunk[:20], wire.CLOSE)

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_silence_before_the_first_word_is_named(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=0.5))

    assert isinstance(failure, ProviderSilent)
    assert "0.5 seconds" in str(failure)
    assert wire.gone.wait(10)


def test_silence_in_the_middle_is_named(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=0.5))

    assert isinstance(failure, ProviderSilent)
    assert wire.gone.wait(10)


def test_a_stream_that_never_stops_ends_at_the_cap(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, itertools.repeat(wire.says("again " * 1000)))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderGarbled)
    assert "does not stop" in str(failure)
    assert wire.gone.wait(10)


def test_a_stream_that_never_says_anything_ends_with_the_runs_time(
    ask: "Ask", wire: "Wire"
) -> None:
    wire.answers(wire.STREAM, itertools.repeat(wire.part(b": still here\n\n" * 100)))

    failure = failure_of(ask, wire.base_url, Control(1, idle_seconds=30))

    assert isinstance(failure, OutOfTime)
    assert wire.gone.wait(10)


def test_a_line_that_never_ends_is_garbled(ask: "Ask", wire: "Wire") -> None:
    endless = itertools.repeat(wire.part(b"x" * 50_000))
    wire.answers(wire.STREAM, wire.part(b"data: "), endless)

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)
    assert wire.gone.wait(10)


def test_a_huge_but_honest_line_is_read(ask: "Ask", wire: "Wire") -> None:
    wire.answers(wire.STREAM, wire.says("word " * 100_000), wire.ends())

    assert len(ask(wire.base_url).answer) == 500_000


def test_the_key_is_sent_and_shown_to_nobody_else(ask: "Ask", wire: "Wire", key: str) -> None:
    wire.answers(wire.page("401 Unauthorized", json.dumps({"error": f"Wrong key: {key}."})))

    failure = failure_of(ask, wire.base_url)

    head, body = wire.requests[0]
    assert f"Bearer {key}" in head
    assert key not in json.dumps(body)
    assert key not in str(failure)
    assert "Wrong key: [the key]." in str(failure)


def test_a_key_in_an_error_inside_a_stream_is_not_shown(ask: "Ask", wire: "Wire", key: str) -> None:
    wire.answers(wire.STREAM, wire.event({"error": {"message": f"bad {key}"}}), wire.ends())

    assert key not in str(failure_of(ask, wire.base_url))
