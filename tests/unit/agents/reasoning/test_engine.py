"""The engine tells a call as events, and gives its slot back exactly once, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agents.contracts import Message, Role
from agents.control import Control
from agents.errors import ProviderTruncated, Stopped
from agents.providers.base import ModelRequest, Provider
from agents.providers.scripted import ScriptedProvider
from agents.reasoning.engine import Failed, Metadata, ReasoningEngine
from agents.reasoning.model import Model

ASKED = [Message(role=Role.USER, content="Q?")]
REQUEST = ModelRequest(purpose="think", messages=ASKED)


class Counted(ScriptedProvider):
    """A scripted provider that counts how often its slot was taken and given back."""

    taken = released = 0

    @contextmanager
    def lease(self, control: Control) -> Iterator[Provider]:
        control.check()
        self.taken += 1
        try:
            yield self
        finally:
            self.released += 1


def test_the_events_are_tokens_then_the_record_then_the_end() -> None:
    script = [{"say": "a b", "reasoning": "why ", "usage": {"output_tokens": 2}}]
    provider = ScriptedProvider(script)

    events = list(ReasoningEngine(provider, Control()).stream(REQUEST))

    assert [event.type for event in events] == ["TOKEN", "TOKEN", "TOKEN", "METADATA", "END"]
    assert [event.kind for event in events[:3] if event.type == "TOKEN"] == [
        "reasoning",
        "answer",
        "answer",
    ]
    record = events[3]
    assert isinstance(record, Metadata)
    assert record.call.usage.output_tokens == 2
    assert record.call.stop_reason == "stop"
    assert record.call.first_token_seconds is not None


def test_a_failure_is_an_event_after_the_record_of_what_came_before_it() -> None:
    provider = ScriptedProvider([{"fail": "truncated", "after": "half"}])

    events = list(ReasoningEngine(provider, Control()).stream(REQUEST))

    assert [event.type for event in events] == ["TOKEN", "METADATA", "ERROR", "END"]
    assert isinstance(events[1], Metadata)
    assert events[1].call.reply == "half"
    assert isinstance(events[2], Failed)
    assert isinstance(events[2].error, ProviderTruncated)


def test_the_slot_is_given_back_once_after_a_reply() -> None:
    provider = Counted([{"say": "a b"}])

    list(Model(provider, Control()).stream(ASKED, purpose="think"))

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_after_an_error_which_is_raised() -> None:
    provider = Counted([{"fail": "truncated", "after": "half"}])

    with pytest.raises(ProviderTruncated):
        list(Model(provider, Control()).stream(ASKED, purpose="think"))

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_when_nobody_reads_on() -> None:
    provider = Counted([{"say": "a b c"}])
    reply = ReasoningEngine(provider, Control()).stream(REQUEST)
    next(reply)

    reply.close()

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_once_when_the_run_is_stopped() -> None:
    provider, control = Counted([{"hang": True, "after": "a "}]), Control()
    reply = Model(provider, control).stream(ASKED, purpose="think")
    next(reply)
    control.stop()

    with pytest.raises(Stopped):
        list(reply)

    assert (provider.taken, provider.released) == (1, 1)


def test_the_slot_is_given_back_before_the_record_is_told() -> None:
    provider = Counted([{"say": "a"}])

    for event in ReasoningEngine(provider, Control()).stream(REQUEST):
        assert provider.released == (event.type != "TOKEN")


def test_a_run_stopped_while_it_waits_leaves_no_record_of_a_call() -> None:
    provider, control = Counted([{"say": "a"}]), Control()
    control.stop()

    with pytest.raises(Stopped):
        list(ReasoningEngine(provider, control).stream(REQUEST))

    assert provider.taken == 0
