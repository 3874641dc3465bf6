"""What holds in every dialect: replies are read whole, faults have names, and a halt is heard."""

import json
import threading
from typing import TYPE_CHECKING

import pytest

from agents.contracts import Observation, Status
from agents.control import Control
from agents.errors import (
    AgentError,
    ProviderBusy,
    ProviderGarbled,
    ProviderRefused,
    ProviderSilent,
    ProviderTruncated,
    Stopped,
)
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.vendors import VENDORS
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.providers.calls import Ask, ProviderOf, Reply
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.fixture
def asked(ask: Ask, wire: Wire, speaker: "Speaker") -> "Asked":
    return Asked(ask, wire, speaker)


class Asked:
    """Ask the byte server in the speaker's dialect."""

    def __init__(self, ask: Ask, wire: Wire, speaker: "Speaker") -> None:
        self._ask = ask
        self._wire = wire
        self._speaker = speaker

    def __call__(self, control: Control | None = None) -> Reply:
        url = f"http://{self._wire.place}"
        url = f"{url}/v1" if self._speaker.name == "openai" else url
        return self._ask(url, provider=self._speaker.name, control=control)

    def fails(self, control: Control | None = None) -> AgentError:
        with pytest.raises(AgentError) as failure:
            self(control)
        return failure.value


def test_a_reply_comes_with_its_thoughts_before_it_its_end_and_its_count(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(
        speaker.begins(),
        speaker.thinks("Six times "),
        speaker.thinks("seven."),
        speaker.says("It is "),
        speaker.says("42 — “zweiundvierzig” 😀"),
        speaker.ends(),
    )

    reply = asked()

    assert reply.reasoning == "Six times seven."
    assert reply.answer == "It is 42 — “zweiundvierzig” 😀"
    assert list(dict.fromkeys(token.kind for token in reply.tokens)) == ["reasoning", "answer"]
    assert reply.finish.stop_reason == "stop"
    assert reply.finish.usage == speaker.usage


def test_calls_one_after_the_other_share_a_connection(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    for _ in range(3):
        asked()

    assert (len(wire.requests), wire.connections) == (3, 1)


@pytest.mark.parametrize("line", ['{"half": ', "[]", "7", "null", '"text"', "[" * 100_000])
def test_a_line_that_is_no_chunk_is_garbled(
    asked: Asked, wire: Wire, speaker: "Speaker", line: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), speaker.sends(line), speaker.ends())

    assert isinstance(asked.fails(), ProviderGarbled)


def test_a_chunk_that_nobody_knows_is_passed_over(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    odd = [speaker.sends(chunk) for chunk in ({"type": "weather", "choices": None}, {"type": ""})]
    wire.answers(speaker.begins(), odd[0], speaker.says("whole"), odd[1], speaker.ends())

    assert asked().answer == "whole"


def test_a_stream_of_nothing_but_such_chunks_is_garbled_in_its_own_words(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(Wire.STREAM, speaker.sends({"type": "weather", "sky": "blue"}), b"0\r\n\r\n")

    error = asked.fails()

    assert isinstance(error, ProviderGarbled)
    assert "blue" in str(error)


def test_text_that_is_no_text_is_garbled(asked: Asked, wire: Wire, speaker: "Speaker") -> None:
    seven = speaker.says("SEVEN").replace(b'"SEVEN"', b"7      ")
    wire.answers(speaker.begins(), seven, speaker.ends())

    assert isinstance(asked.fails(), ProviderGarbled)


def test_a_success_that_is_a_web_page_is_garbled(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(wire.page("200 OK", "<!DOCTYPE html><p>Sign in</p>", "Content-Type: text/html"))

    failure = asked.fails()

    assert isinstance(failure, ProviderGarbled)
    assert VENDORS[speaker.name].address in str(failure)


def test_an_error_in_the_middle_ends_the_reply_and_is_not_begun_again(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), speaker.fails("Overloaded"))

    failure = asked.fails()

    assert isinstance(failure, ProviderBusy)
    assert "Overloaded" in str(failure)
    assert len(wire.requests) == 1


def test_an_error_before_the_first_word_is_tried_again(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(speaker.begins(), speaker.fails("Overloaded"), b"0\r\n\r\n")
    wire.answers(speaker.begins(), speaker.says("now"), speaker.ends())

    assert asked().answer == "now"


def test_a_cut_in_the_middle_is_truncated(asked: Asked, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), wire.CUT)

    assert isinstance(asked.fails(), ProviderTruncated)


def test_an_orderly_end_without_a_reason_is_truncated(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), b"0\r\n\r\n")

    assert isinstance(asked.fails(), ProviderTruncated)


def test_half_a_line_at_the_end_is_truncated(asked: Asked, wire: Wire, speaker: "Speaker") -> None:
    half = speaker.says("cut in two").split(b"\r\n")[1][:25]
    wire.answers(speaker.begins(), speaker.says("so far "), wire.part(half), b"0\r\n\r\n")

    assert isinstance(asked.fails(), ProviderTruncated)


def test_silence_in_the_middle_is_named(asked: Asked, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), wire.HOLD)

    assert isinstance(asked.fails(Control(30, idle_seconds=0.5)), ProviderSilent)
    assert wire.gone.wait(10)


def test_a_stop_ends_a_server_that_is_silent(asked: Asked, wire: Wire, speaker: "Speaker") -> None:
    wire.answers(speaker.begins(), speaker.says("so far "), wire.HOLD)
    control = Control(300, idle_seconds=300)
    ended: list[AgentError] = []
    caller = threading.Thread(target=lambda: ended.append(asked.fails(control)), daemon=True)
    caller.start()
    assert wire.asked.acquire(timeout=10)

    control.stop()

    caller.join(timeout=10)
    assert [type(failure) for failure in ended] == [Stopped]
    assert wire.gone.wait(10)


def test_a_server_that_asks_for_patience_gets_it(
    asked: Asked, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(wire.page("429 Too Many Requests", "{}", "Retry-After: 0"))
    wire.answers(wire.page("529 Overloaded", "{}", "Retry-After: 0"))
    wire.answers(speaker.begins(), speaker.says("now"), speaker.ends())

    assert asked().answer == "now"
    assert len(wire.requests) == 3


def test_patience_that_the_run_has_not_got_is_not_begun(asked: Asked, wire: Wire) -> None:
    wire.answers(wire.page("429 Too Many Requests", '{"error": "slow"}', "Retry-After: 100"))

    failure = asked.fails(Control(50))

    assert isinstance(failure, ProviderBusy)
    assert failure.retry_after == 100
    assert len(wire.requests) == 1


def test_a_wrong_key_is_told_by_the_name_of_its_variable_and_never_shown(
    asked: Asked, wire: Wire, speaker: "Speaker", key: str
) -> None:
    said = json.dumps({"error": {"type": "authentication_error", "message": f"invalid: {key}"}})
    wire.answers(wire.page("401 Unauthorized", said))

    failure = asked.fails()

    assert isinstance(failure, ProviderRefused)
    assert f"invalid: [the key] Check {VENDORS[speaker.name].keys[0]}." in str(failure)
    assert len(wire.requests) == 1


def test_the_key_is_sent_in_its_header_and_nowhere_else(
    asked: Asked, wire: Wire, speaker: "Speaker", key: str
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    asked()

    head, body = wire.requests[0]
    assert f"\r\n{speaker.key_header}{key}\r\n" in head.lower() + "\r\n"
    assert (head.count(key), json.dumps(body).count(key)) == (1, 0)


def test_a_server_without_a_key_is_sent_none(
    wire: Wire, speaker: "Speaker", provider_of: ProviderOf
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())
    provider = provider_of(wire.base_url, key="none", provider=speaker.name)

    list(provider.stream('{"messages": []}', Control(30)))

    head = wire.requests[0][0].lower()
    assert speaker.name == "openai" or speaker.key_header not in head


@tool()
def double(number: int) -> str:
    """Double a number."""
    return str(2 * number)


def test_a_run_goes_through_and_leaves_an_exact_record(
    wire: Wire, speaker: "Speaker", provider_of: ProviderOf
) -> None:
    thinking = [speaker.thinks("Twice "), speaker.thinks("that.")]
    action = speaker.says("Thought: I double.\nAction: double\nAction Input: ")
    wire.answers(
        speaker.begins(), *thinking, action, speaker.says('{"number": 21}'), speaker.ends()
    )
    wire.answers(speaker.begins(), speaker.says("Final Answer: 42"), speaker.ends())
    control, limits = Control(60), Limits(max_turns=3)
    model = Model(provider_of(wire.base_url, provider=speaker.name), control)
    policy = build(PolicySpec(policy="explicit"), Parts(model, Toolkit([double]), limits))
    state = State("What is twice 21?")

    events = list(run(policy, state, control))

    assert state.outcome is not None
    assert (state.outcome.status, state.outcome.answer) == (Status.SUCCEEDED, "42")
    assert state.turns[0].observations == [Observation(text="42")]
    first, second = (event.call for event in events if isinstance(event, ModelCalled))
    assert (first.provider, first.reasoning) == (speaker.name, "Twice that.")
    assert first.reply.endswith('Action Input: {"number": 21}')
    assert (second.reply, second.error) == ("Final Answer: 42", "")
    for call, (_, body) in zip((first, second), wire.requests, strict=True):
        assert json.loads(call.request) == body
        assert call.usage == speaker.usage
        assert call.stop_reason in ("stop", "enough")
        assert call.first_token_seconds is not None
