"""What a well-behaved server sends, as a third party's mock of OpenAI sends it."""

import pytest

from agents.contracts import Message, Purpose, Role, Usage
from agents.control import Control
from agents.errors import OutOfTime, ProviderBusy, ProviderRefused
from agents.providers.base import ModelRequest
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.mock import Mock


def test_a_reply_comes_in_pieces_with_its_end_and_its_count(ask: Ask, mock: Mock) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    mock.answers(
        {
            "match": {"userMessage": "hello"},
            "response": {"content": "Grüße aus Köln", "usage": usage},
        }
    )

    reply = ask(mock.base_url, "hello")

    assert reply.answer == "Grüße aus Köln"
    assert len(reply.tokens) > 1
    assert reply.finish.stop_reason == "stop"
    assert reply.finish.usage == Usage(input_tokens=7, output_tokens=3)


def test_reasoning_is_told_from_the_answer(ask: Ask, mock: Mock) -> None:
    mock.answers(
        {
            "match": {"userMessage": "hello"},
            "response": {"content": "42", "reasoning": "Six times seven."},
        }
    )

    reply = ask(mock.base_url, "hello")

    assert (reply.reasoning, reply.answer) == ("Six times seven.", "42")


def test_the_server_is_sent_exactly_what_was_asked_for(ask: Ask, mock: Mock) -> None:
    mock.answers({"match": {"userMessage": "list"}, "response": {"content": "{}"}})

    ask(
        mock.base_url,
        "list",
        model="small",
        as_json=True,
        stop=["Observation:"],
        temperature=0.0,
        max_tokens=9,
    )

    (asked,) = mock.journal()
    del asked["body"]["_endpointType"]
    assert asked["body"] == {
        "model": "small",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "max_tokens": 9,
        "stop": ["Observation:"],
        "response_format": {"type": "json_object"},
        "messages": [{"role": "user", "content": "list"}],
    }


def test_nothing_is_sent_that_was_not_asked_for(ask: Ask, mock: Mock) -> None:
    mock.answers({"match": {"userMessage": "plain"}, "response": {"content": "ok"}})

    ask(mock.base_url, "plain")

    (asked,) = mock.journal()
    assert set(asked["body"]) - {"_endpointType"} == {
        "model",
        "stream",
        "stream_options",
        "messages",
    }


def test_a_server_that_asks_for_patience_gets_it(ask: Ask, mock: Mock) -> None:
    mock.answers(
        {
            "match": {"userMessage": "busy", "sequenceIndex": 0},
            "response": {"error": {"message": "slow down"}, "status": 429, "retryAfter": 1},
        },
        {"match": {"userMessage": "busy"}, "response": {"content": "now"}},
    )

    reply = ask(mock.base_url, "busy")

    assert reply.answer == "now"
    assert [entry["response"]["status"] for entry in mock.journal()] == [429, 200]


def test_patience_that_the_run_has_not_got_is_not_begun(ask: Ask, mock: Mock) -> None:
    mock.answers(
        {
            "match": {"userMessage": "busy"},
            "response": {"error": {"message": "slow down"}, "status": 429, "retryAfter": 100},
        }
    )

    with pytest.raises(ProviderBusy, match="slow down") as failure:
        ask(mock.base_url, "busy", control=Control(50))

    assert failure.value.retry_after == 100
    assert len(mock.journal()) == 1


def test_an_unknown_model_is_refused_in_the_servers_words(ask: Ask, mock: Mock) -> None:
    with pytest.raises(ProviderRefused, match=r"No fixture matched.*TURNSTONE_MODEL"):
        ask(mock.base_url, "nobody knows this")


def test_a_slow_reply_ends_with_the_runs_time(ask: Ask, mock: Mock) -> None:
    mock.answers(
        {
            "match": {"userMessage": "slow"},
            "response": {"content": "word " * 1000},
            "streamingProfile": {"ttft": 10, "tps": 2},
        }
    )

    with pytest.raises(OutOfTime):
        ask(mock.base_url, "slow", control=Control(1.5, idle_seconds=30))


def test_bodies_of_one_conversation_share_their_beginning(
    provider_of: ProviderOf,
) -> None:
    provider = provider_of("http://127.0.0.1:9/v1")
    first = Message(role=Role.USER, content="What is 6 — 7?")
    second = Message(role=Role.ASSISTANT, content="42")

    shorter = provider.body(ModelRequest(purpose=Purpose.THINK, messages=[first]))
    longer = provider.body(ModelRequest(purpose=Purpose.THINK, messages=[first, second]))

    assert longer.startswith(shorter.removesuffix("]}"))
    assert "6 — 7" in shorter


def test_half_a_character_does_not_break_a_body(
    provider_of: ProviderOf,
) -> None:
    provider = provider_of("http://127.0.0.1:9/v1")
    message = Message.model_construct(role=Role.USER, content="half \ud83d")

    body = provider.body(ModelRequest.model_construct(purpose=Purpose.THINK, messages=[message]))

    assert "half ?" in body
