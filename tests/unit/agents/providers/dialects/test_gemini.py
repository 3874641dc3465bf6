"""Gemini's dialect: as a third party's mock speaks it, and where it differs from the others."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from agents.contracts import Message, Role, Usage
from agents.control import Control
from agents.errors import ProviderBusy, ProviderRefused
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.mock import Mock
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.fixture
def speaker(speaker_of: "Callable[[RemoteName], Speaker]") -> "Speaker":
    return speaker_of("gemini")


def test_a_reply_of_the_mock_is_read_with_its_thoughts(ask: Ask, mock: Mock) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    mock.answers(
        {
            "match": {"userMessage": "hello"},
            "response": {"content": "Grüße aus Köln", "reasoning": "Polite.", "usage": usage},
        }
    )

    reply = ask(mock.url, provider="gemini", model="gemini-3.8-flash")

    assert (reply.reasoning, reply.answer) == ("Polite.", "Grüße aus Köln")
    assert reply.finish.stop_reason == "stop"
    assert reply.finish.usage == Usage(input_tokens=7, output_tokens=3)


def test_a_call_that_nobody_offered_is_shown_as_text(ask: Ask, mock: Mock) -> None:
    calls = [{"name": "add", "arguments": '{"a": 1}'}, {"name": "look", "arguments": "{}"}]
    mock.answers({"match": {"userMessage": "hello"}, "response": {"toolCalls": calls}})

    reply = ask(mock.url, provider="gemini")

    said = [line for line in reply.answer.splitlines() if line]
    assert said == ['{"tool": "add", "inputs": {"a": 1}}', '{"tool": "look", "inputs": {}}']


@pytest.mark.parametrize(
    ("suffix", "model", "path"),
    [
        ("", "gemini-3.8-flash", "/v1beta/models/gemini-3.8-flash"),
        ("/v1beta/", "models/m", "/v1beta/models/m"),
        ("/v1", "m", "/v1/models/m"),
        ("/proxy/v1beta", "tunedModels/m 1?", "/proxy/v1beta/tunedModels/m%201%3F"),
    ],
)
def test_the_address_is_right_in_every_version(
    ask: Ask, wire: Wire, speaker: "Speaker", suffix: str, model: str, path: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(f"http://{wire.place}{suffix}", provider="gemini", model=model)

    line = wire.requests[0][0].splitlines()[0]
    assert line == f"POST {path}:streamGenerateContent?alt=sse HTTP/1.1"


def test_only_what_was_asked_for_is_sent(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, provider="gemini")
    ask(
        wire.base_url,
        provider="gemini",
        as_json=True,
        temperature=0.0,
        max_tokens=9,
        stop=["\nObs:"],
    )

    plain, full = (body for _, body in wire.requests)
    thinking = {"thinkingConfig": {"includeThoughts": True}}
    assert plain == {
        "generationConfig": thinking,
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
    }
    assert full["generationConfig"] == thinking | {
        "temperature": 0.0,
        "maxOutputTokens": 9,
        "stopSequences": ["\nObs:"],
        "responseMimeType": "application/json",
    }


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
def test_an_answer_that_is_withheld_is_a_refusal(
    ask: Ask, wire: Wire, speaker: "Speaker", reason: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("so far"), speaker.stops(reason), b"0\r\n\r\n")

    with pytest.raises(ProviderRefused, match=rf"declined to answer \({reason}\)"):
        ask(wire.base_url, provider="gemini")


def test_a_question_that_is_blocked_is_a_refusal(ask: Ask, wire: Wire, speaker: "Speaker") -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}
    wire.answers(speaker.begins(), speaker.sends(blocked), b"0\r\n\r\n")

    with pytest.raises(ProviderRefused, match=r"declined to answer \(SAFETY\)"):
        ask(wire.base_url, provider="gemini")


def test_a_call_that_the_model_could_not_write_only_ends_the_reply(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    end = speaker.stops("MALFORMED_FUNCTION_CALL")
    wire.answers(speaker.begins(), speaker.says("so far"), end, b"0\r\n\r\n")

    reply = ask(wire.base_url, provider="gemini")

    assert (reply.answer, reply.finish.stop_reason) == ("so far", "MALFORMED_FUNCTION_CALL")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("thinkingConfig", "Thinking is not enabled for models/gemini-2.0-flash"),
        ("thinkingConfig", 'Unknown name "thinkingConfig" at generation_config'),
        ("responseMimeType", "JSON mode is not enabled for models/gemma-3-27b-it"),
    ],
)
def test_a_setting_that_the_model_does_not_know_is_left_out_from_then_on(
    ask: Ask, wire: Wire, speaker: "Speaker", setting: str, words: str
) -> None:
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    first = ask(wire.base_url, provider="gemini", as_json=True)
    ask(wire.base_url, provider="gemini", as_json=True)

    sent = [setting in body["generationConfig"] for _, body in wire.requests]
    assert sent == [True, False, False]
    assert setting not in first.posted


@pytest.mark.parametrize("first", [Role.USER, Role.ASSISTANT])
def test_rules_that_a_model_cannot_take_apart_are_said_first(
    ask: Ask, wire: Wire, speaker: "Speaker", first: Role
) -> None:
    words = "Developer instruction is not enabled for models/gemma-3-27b-it"
    wire.answers(wire.page("400 Bad Request", f'{{"error": {{"message": "{words}"}}}}'))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())
    rules = Message(role=Role.SYSTEM, content="Be brief.")
    plain = Message(role=first, content="Hello.")

    ask(wire.base_url, provider="gemini", messages=[rules, plain])
    ask(wire.base_url, provider="gemini", messages=[plain])

    _, (_, said), (_, without) = wire.requests
    assert "systemInstruction" not in said
    assert said["contents"][0]["role"] == "user"
    assert said["contents"][0]["parts"][0] == {"text": "Be brief."}
    assert len(without["contents"]) == 1


def test_the_wait_that_the_body_asks_for_is_heeded(ask: Ask, wire: Wire) -> None:
    details = '[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "91.5s"}]'
    said = f'{{"error": {{"code": 429, "message": "Quota", "details": {details}}}}}'
    wire.answers(wire.page("429 Too Many Requests", said))

    with pytest.raises(ProviderBusy, match="Quota") as failure:
        ask(wire.base_url, provider="gemini", control=Control(50))

    assert failure.value.retry_after == 91.5


def test_a_wrong_key_is_told_though_the_status_says_less(ask: Ask, wire: Wire) -> None:
    details = '[{"reason": "API_KEY_INVALID"}]'
    said = f'{{"error": {{"message": "API key not valid.", "details": {details}}}}}'
    wire.answers(wire.page("400 Bad Request", said))

    with pytest.raises(ProviderRefused, match=r"API key not valid. Check GEMINI_API_KEY"):
        ask(wire.base_url, provider="gemini")
