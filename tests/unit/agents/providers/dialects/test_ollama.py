"""Ollama's own dialect: as a third party's mock speaks it, and where it differs from the others."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from agents.contracts import Usage
from agents.errors import ProviderGarbled, ProviderRefused
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.mock import Mock
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.fixture
def speaker(speaker_of: "Callable[[RemoteName], Speaker]") -> "Speaker":
    return speaker_of("ollama")


def test_a_reply_of_the_mock_is_read_with_its_thoughts(ask: Ask, mock: Mock) -> None:
    response = {"content": "Grüße aus Köln", "reasoning": "Polite."}
    mock.answers({"match": {"userMessage": "hello"}, "response": response})

    reply = ask(mock.url, provider="ollama")

    assert (reply.reasoning, reply.answer) == ("Polite.", "Grüße aus Köln")
    assert len(reply.tokens) > 1
    assert reply.finish.stop_reason == "stop"
    assert reply.finish.usage == Usage(input_tokens=0, output_tokens=0)


def test_a_call_that_nobody_offered_is_shown_as_text(ask: Ask, mock: Mock) -> None:
    calls = [{"name": "add", "arguments": '{"a": 1}'}]
    mock.answers({"match": {"userMessage": "hello"}, "response": {"toolCalls": calls}})

    reply = ask(mock.url, provider="ollama")

    assert reply.answer == '\n{"tool": "add", "inputs": {"a": 1}}\n'


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/api/"])
def test_the_address_is_right_as_for_either_dialect(
    ask: Ask, wire: Wire, speaker: "Speaker", suffix: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(f"http://{wire.place}{suffix}", provider="ollama")

    assert wire.requests[0][0].startswith("POST /api/chat HTTP/1.1\r\n")


def test_only_what_was_asked_for_is_sent(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, provider="ollama")
    ask(
        wire.base_url, provider="ollama", as_json=True, temperature=0.0, max_tokens=9, stop=["Obs:"]
    )

    plain, full = (body for _, body in wire.requests)
    messages = [{"role": "user", "content": "hello"}]
    assert plain == {"model": "m", "stream": True, "messages": messages}
    options = {"temperature": 0.0, "num_predict": 9, "stop": ["Obs:"]}
    assert full == plain | {"format": "json", "options": options}


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_an_answer_in_one_piece_is_read(ask: Ask, wire: Wire, end: str) -> None:
    message = {"role": "assistant", "content": "Whole.", "thinking": "Hm."}
    reply_body = {"message": message, "done": True, "done_reason": "length", "eval_count": 2}
    wire.answers(wire.page("200 OK", json.dumps(reply_body) + end))

    reply = ask(wire.base_url, provider="ollama")

    assert (reply.reasoning, reply.answer, reply.finish.stop_reason) == ("Hm.", "Whole.", "length")
    assert reply.finish.usage == Usage(output_tokens=2)


def test_an_older_server_that_gives_no_reason_has_stopped(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    last = speaker.sends({"message": {"content": ""}, "done": True})
    wire.answers(speaker.begins(), speaker.says("fine"), last, b"0\r\n\r\n")

    assert ask(wire.base_url, provider="ollama").finish.stop_reason == "stop"


def test_lines_are_read_however_they_are_cut(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    said = json.dumps({"message": {"content": "é😀"}, "done": False}, ensure_ascii=False)
    pieces = [wire.part(bytes([byte])) for byte in f"{said}\r\n\r\n".encode()]
    wire.answers(speaker.begins(), *pieces, speaker.ends())

    assert ask(wire.base_url, provider="ollama").answer == "é😀"


def test_a_failure_in_the_middle_is_told_in_its_words(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    broken = speaker.sends({"error": "model runner has unexpectedly stopped"})
    wire.answers(speaker.begins(), speaker.says("so far"), broken, b"0\r\n\r\n")

    with pytest.raises(ProviderGarbled, match="model runner has unexpectedly stopped"):
        ask(wire.base_url, provider="ollama")


def test_an_unknown_model_is_told_with_what_to_set(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.page("404 Not Found", '{"error": "model \'m\' not found"}'))

    with pytest.raises(ProviderRefused, match=r"'m' not found Check TURNSTONE_MODEL"):
        ask(wire.base_url, provider="ollama")
