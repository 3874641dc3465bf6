"""Anthropic's dialect: as a third party's mock speaks it, and where it differs from the others."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Usage
from agents.errors import ProviderBusy, ProviderRefused
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.mock import Mock
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.fixture
def speaker(speaker_of: "Callable[[RemoteName], Speaker]") -> "Speaker":
    return speaker_of("anthropic")


def test_a_reply_of_the_mock_is_read_with_its_thoughts(ask: Ask, mock: Mock) -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    mock.answers(
        {
            "match": {"userMessage": "hello"},
            "response": {"content": "Grüße aus Köln", "reasoning": "Polite.", "usage": usage},
        }
    )

    reply = ask(mock.url, provider="anthropic", model="claude-haiku-5-5")

    assert (reply.reasoning, reply.answer) == ("Polite.", "Grüße aus Köln")
    assert len(reply.tokens) > 1
    assert reply.finish.stop_reason == "stop"
    assert reply.finish.usage == Usage(input_tokens=7, output_tokens=3)


def test_a_limit_of_tokens_is_named_as_everywhere(ask: Ask, mock: Mock) -> None:
    response = {"content": "Half of", "finishReason": "length"}
    mock.answers({"match": {"userMessage": "hello"}, "response": response})

    assert ask(mock.url, provider="anthropic").finish.stop_reason == "length"


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_the_address_is_right_with_and_without_its_version(
    ask: Ask, wire: Wire, speaker: "Speaker", suffix: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(f"http://{wire.place}{suffix}", provider="anthropic")

    head = wire.requests[0][0]
    assert head.startswith("POST /v1/messages HTTP/1.1\r\n")
    assert "anthropic-version: 2023-06-01" in head


def test_only_what_was_asked_for_is_sent(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, provider="anthropic")
    ask(wire.base_url, provider="anthropic", temperature=0.0, max_tokens=9, stop=["\nObs:"])

    plain, full = (body for _, body in wire.requests)
    assert plain == {
        "model": "m",
        "max_tokens": 16_000,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    }
    assert full == plain | {"temperature": 0.0, "max_tokens": 9, "stop_sequences": ["\nObs:"]}


def test_an_answer_in_one_piece_is_read(ask: Ask, wire: Wire) -> None:
    message = {
        "type": "message",
        "content": [
            {"type": "redacted_thinking", "data": "x"},
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "Whole."},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    wire.answers(wire.page("200 OK", json.dumps(message)))

    reply = ask(wire.base_url, provider="anthropic")

    assert (reply.reasoning, reply.answer, reply.finish.stop_reason) == ("Hm.", "Whole.", "stop")
    assert reply.finish.usage == Usage(input_tokens=1, output_tokens=2)


def test_what_was_cached_counts_as_input_and_what_is_no_count_does_not(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    last: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": "max_tokens"},
        "usage": {"input_tokens": "many", "output_tokens": 40},
    }
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.sends(last), b"0\r\n\r\n")

    finish = ask(wire.base_url, provider="anthropic").finish

    assert finish.usage == Usage(input_tokens=7, output_tokens=40, cached_tokens=5)
    assert finish.stop_reason == "length"


def test_a_call_that_nobody_offered_is_shown_as_text(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    def block(kind: str, **fields: Any) -> bytes:
        return speaker.sends({"type": f"content_block_{kind}", "index": 1} | fields)

    def inputs(text: str) -> bytes:
        return block("delta", delta={"type": "input_json_delta", "partial_json": text})

    use = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    signature = {"type": "signature_delta", "signature": "x"}
    wire.answers(
        speaker.begins(),
        speaker.says("I add."),
        block("delta", delta=signature),
        block("start", content_block=use),
        inputs('{"a": 1, '),
        inputs('"b": "ü"}'),
        speaker.stops("tool_use"),
        b"0\r\n\r\n",
    )

    reply = ask(wire.base_url, provider="anthropic")

    assert reply.answer == 'I add.\n{"tool": "add", "inputs": {"a": 1, "b": "ü"}}\n'
    assert reply.finish.stop_reason == "tool_calls"


def test_an_answer_that_is_withheld_is_a_refusal(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.stops("refusal"), b"0\r\n\r\n")

    with pytest.raises(ProviderRefused, match=r"declined to answer \(refusal\)"):
        ask(wire.base_url, provider="anthropic")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", ProviderBusy),
        ("api_error", ProviderBusy),
        ("rate_limit_error", ProviderBusy),
        ("invalid_request_error", ProviderRefused),
        ("authentication_error", ProviderRefused),
    ],
)
def test_an_error_event_is_what_it_says(
    ask: Ask, wire: Wire, speaker: "Speaker", kind: str, expected: type[Exception]
) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "so it is"}}
    wire.answers(speaker.begins(), speaker.says("so far"), speaker.sends(error), b"0\r\n\r\n")

    with pytest.raises(expected, match="so it is"):
        ask(wire.base_url, provider="anthropic")
