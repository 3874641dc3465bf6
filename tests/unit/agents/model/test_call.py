"""A call gives its slot back once, however it ends."""

import pytest

from agents.control import Control
from agents.errors import ProviderTruncated, Stopped
from agents.events import ModelCalled
from agents.providers.base import Token
from agents.providers.scripted import ScriptedProvider
from tests.unit.agents.model.calls import Counted, asked


def test_a_reply_comes_in_tokens_and_then_as_the_record() -> None:
    script = [{"say": "a b", "reasoning": "why ", "usage": {"output_tokens": 2}}]

    *tokens, record = asked(ScriptedProvider(script))

    assert [token.kind for token in tokens if isinstance(token, Token)] == [
        "reasoning",
        "answer",
        "answer",
    ]
    assert isinstance(record, ModelCalled)
    assert record.call.usage.output_tokens == 2
    assert record.call.stop_reason == "stop"
    assert record.call.first_token_seconds is not None


def test_a_failure_is_raised_after_the_record_of_what_came_before_it() -> None:
    items = asked(ScriptedProvider([{"fail": "truncated", "after": "half"}]))

    assert isinstance(next(items), Token)
    record = next(items)
    assert isinstance(record, ModelCalled)
    assert record.call.reply == "half"
    with pytest.raises(ProviderTruncated):
        next(items)


def test_the_slot_is_given_back_once_after_a_reply() -> None:
    provider = Counted([{"say": "a b"}])

    list(asked(provider))

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_after_an_error_which_is_raised() -> None:
    provider = Counted([{"fail": "truncated", "after": "half"}])

    with pytest.raises(ProviderTruncated):
        list(asked(provider))

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_when_nobody_reads_on() -> None:
    provider = Counted([{"say": "a b c"}])
    reply = asked(provider)
    next(reply)

    reply.close()  # type: ignore[attr-defined]

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_when_the_run_is_stopped() -> None:
    provider, control = Counted([{"hang": True, "after": "a "}]), Control()
    reply = asked(provider, control)
    next(reply)
    control.stop()

    with pytest.raises(Stopped):
        list(reply)

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_before_the_record_is_told() -> None:
    provider = Counted([{"say": "a"}])

    for item in asked(provider):
        assert provider.released == isinstance(item, ModelCalled)


def test_a_run_stopped_while_it_waits_leaves_no_record_of_a_call() -> None:
    provider, control = Counted([{"say": "a"}]), Control()
    control.stop()

    with pytest.raises(Stopped):
        list(asked(provider, control))

    assert provider.taken == 0
