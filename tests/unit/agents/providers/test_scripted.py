"""The scripted provider says what it is told, when it is told to."""

import json
import threading
from typing import Any

import pytest

from agents.contracts import Message, Purpose, Role, Usage
from agents.control import Control
from agents.errors import (
    ConfigurationError,
    OutOfTime,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    ProviderSilent,
    ProviderTruncated,
    ProviderUnreachable,
    Stopped,
)
from agents.providers.base import CallDelta, Finish, ModelRequest, NativeCall, Token
from agents.providers.scripted import ScriptedProvider

Item = Token | CallDelta | NativeCall | Finish


def played(provider: ScriptedProvider, control: Control | None = None) -> list[Item]:
    return list(provider.stream("", control or Control()))


def text_of(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, Token))


def test_the_calls_are_answered_in_order() -> None:
    provider = ScriptedProvider([{"say": "one"}, {"say": "two"}])

    first, second = played(provider), played(provider)

    assert (text_of(first), text_of(second)) == ("one", "two")
    assert first[-1] == Finish(stop_reason="stop")


def test_a_token_is_a_word_with_its_space() -> None:
    tokens = played(ScriptedProvider([{"say": " a  b\nc"}]))

    assert [token.text for token in tokens if isinstance(token, Token)] == [" a  ", "b\n", "c"]


def test_chunks_cut_words_where_they_are_told_to() -> None:
    tokens = played(ScriptedProvider([{"say": "abcde", "chunk": 2}]))

    assert [token.text for token in tokens if isinstance(token, Token)] == ["ab", "cd", "e"]


def test_an_empty_reply_is_a_reply() -> None:
    assert played(ScriptedProvider([{"say": ""}])) == [Finish(stop_reason="stop")]


def test_reasoning_and_usage_are_passed_on() -> None:
    script = [{"say": "b", "reasoning": "a", "usage": {"input_tokens": 5, "output_tokens": 6}}]

    reasoning, answer, finish = played(ScriptedProvider(script))

    assert reasoning == Token(text="a", kind="reasoning")
    assert answer == Token(text="b")
    assert finish == Finish(stop_reason="stop", usage=Usage(input_tokens=5, output_tokens=6))


def test_a_resumed_run_goes_on_where_it_was() -> None:
    provider = ScriptedProvider([{"say": "one"}, {"say": "two"}], position=1)

    assert text_of(played(provider)) == "two"


def test_past_its_end_a_script_says_which_call_it_lacks() -> None:
    provider = ScriptedProvider([{"say": "one"}], position=1)

    with pytest.raises(ConfigurationError, match="no reply for call 2"):
        played(provider)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("unreachable", ProviderUnreachable),
        ("refused", ProviderRefused),
        ("busy", ProviderBusy),
        ("garbled", ProviderGarbled),
        ("truncated", ProviderTruncated),
        ("silent", ProviderSilent),
    ],
)
def test_a_failure_comes_after_what_was_said(kind: str, expected: type[ProviderError]) -> None:
    provider = ScriptedProvider([{"fail": kind, "after": "so far", "message": "as told"}])
    items = provider.stream("", Control())

    heard = [next(items), next(items)]

    assert text_of(heard) == "so far"
    with pytest.raises(expected, match="as told"):
        next(items)


def test_a_hanging_model_is_silent_until_the_idle_limit() -> None:
    with pytest.raises(ProviderSilent, match=r"0\.01 seconds"):
        played(ScriptedProvider([{"hang": True}]), Control(60, idle_seconds=0.01))


def test_a_hanging_model_ends_with_the_runs_time() -> None:
    with pytest.raises(OutOfTime):
        played(ScriptedProvider([{"hang": True}]), Control(0.01, idle_seconds=60))


@pytest.mark.parametrize("entry", [{"hang": True, "after": "so "}, {"say": "so far", "rate": 0.01}])
def test_a_stop_ends_any_wait(entry: dict[str, Any]) -> None:
    control = Control(300, idle_seconds=300)
    ended: list[type[Exception]] = []

    def play() -> None:
        with pytest.raises(Stopped) as failure:
            played(ScriptedProvider([entry]), control)
        ended.append(failure.type)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()

    control.stop()

    thread.join(timeout=10)
    assert ended == [Stopped]


def test_a_stopped_run_hears_nothing() -> None:
    control = Control()
    control.stop()

    with pytest.raises(Stopped):
        played(ScriptedProvider([{"say": "one"}]), control)


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"sya": "typo"}, "Entry 2 .* must say, fail or hang"),
        ({"say": 7}, "Entry 2 .* string"),
        ({"fail": "strangely"}, "Entry 2 .* 'unreachable'"),
        ({"say": "x", "rate": 0}, "Entry 2 .* greater than 0"),
        ({"say": "x", "mood": "good"}, r"Entry 2 .*\.mood"),
        ("say", "Entry 2 .* must say, fail or hang"),
    ],
)
def test_a_wrong_script_says_where_it_is_wrong(entry: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        ScriptedProvider([{"say": "fine"}, entry])


def test_the_body_says_what_was_asked_with_the_messages_last() -> None:
    messages = [
        Message(role=Role.SYSTEM, content="Sé breve."),
        Message(role=Role.USER, content="?"),
    ]

    body = ScriptedProvider([]).body(ModelRequest(purpose=Purpose.THINK, messages=messages))

    assert list(json.loads(body)) == ["model", "purpose", "messages"]
    assert json.loads(body)["messages"][0] == {"role": "system", "content": "Sé breve."}
    assert "Sé breve." in body
