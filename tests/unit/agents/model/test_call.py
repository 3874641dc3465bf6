"""A call gives its slot back once, however it ends."""

from typing import Any

import pytest

from agents.contracts import Purpose, Usage
from agents.control import Control
from agents.errors import ProviderTruncated, Stopped
from agents.events import ModelCalled
from agents.model.call import Said
from agents.model.model import Model
from agents.providers.base import Token
from agents.providers.scripted import ScriptedProvider
from tests.unit.agents.model.calls import ASKED, Counted, asked


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


def enough_after_one(provider: ScriptedProvider) -> list[Said | ModelCalled]:
    """Read a reply of which the first word is enough."""
    model = Model(provider, Control(60))
    return list(model.stream(ASKED, purpose=Purpose.THINK, enough=lambda: True))


@pytest.mark.parametrize("rest", ["", "b", "and " * 40])
def test_of_a_reply_that_was_enough_the_end_is_read_and_what_it_counts(rest: str) -> None:
    script = [{"say": f"a {rest}", "usage": {"output_tokens": 2}}]

    *tokens, record = enough_after_one(ScriptedProvider(script))

    assert isinstance(record, ModelCalled)
    assert len(tokens) == 1
    assert (record.call.reply, record.call.stop_reason) == ("a ", "enough")
    assert record.call.usage.output_tokens == 2


@pytest.mark.parametrize(
    "entry",
    [
        {"say": "a " + "and so on " * 500, "usage": {"output_tokens": 2}},
        {"hang": True, "after": "a "},
        {"fail": "truncated", "after": "a "},
    ],
)
def test_what_goes_on_or_hangs_or_fails_after_enough_is_let_go(entry: dict[str, Any]) -> None:
    _, record = enough_after_one(ScriptedProvider([entry]))

    assert isinstance(record, ModelCalled)
    assert (record.call.error, record.call.stop_reason) == ("", "enough")
    assert record.call.usage == Usage()
