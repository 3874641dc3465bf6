"""The engine tells a call as events, and gives its slot back exactly once, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agents.contracts import Message, Role
from agents.control import Control
from agents.errors import ProviderLimited, ProviderTruncated, Stopped
from agents.model.call import LIMITED_RETRIES, Failed, Metadata, ReasoningEngine
from agents.model.model import Model
from agents.providers.base import Finish, ModelRequest, Provider, Token
from agents.providers.scripted import ScriptedProvider

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


class Limited(Counted):
    """A provider whose server limits its calls so often, and whose lane can be paused."""

    def __init__(self, times: int, retry_after: float | None, *, awaited: bool = True) -> None:
        super().__init__([{"say": "at last"}])
        self.pauses: list[float] = []
        self.asked = 0
        self._times, self._retry_after, self._awaited = times, retry_after, awaited

    def stream(self, body: str, control: Control) -> Iterator[Token | Finish]:
        self.asked += 1
        if self.asked <= self._times:
            raise ProviderLimited("slow down", retry_after=self._retry_after)
        yield from super().stream(body, control)

    def pause(self, seconds: float) -> bool:
        assert self.taken == self.released, "The slot is held while the lane pauses."
        self.pauses.append(seconds)
        return self._awaited


def test_a_server_that_limits_its_calls_is_asked_again_after_its_lane_paused() -> None:
    provider = Limited(2, 7)

    events = list(ReasoningEngine(provider, Control(60)).stream(REQUEST))

    assert [event.type for event in events] == ["TOKEN", "TOKEN", "METADATA", "END"]
    assert (provider.pauses, provider.taken, provider.released) == ([7, 7], 3, 3)


def test_without_a_word_from_the_server_each_pause_is_longer() -> None:
    provider = Limited(4, None)

    list(ReasoningEngine(provider, Control(60)).stream(REQUEST))

    assert provider.pauses == sorted(provider.pauses)
    assert provider.pauses[-1] > 2 * provider.pauses[0]


@pytest.mark.parametrize("retry_after", [100, 500])
def test_more_patience_than_the_run_has_is_a_failure_and_pauses_the_lane_all_the_same(
    retry_after: float,
) -> None:
    provider = Limited(1, retry_after)

    events = list(ReasoningEngine(provider, Control(60)).stream(REQUEST))

    assert [event.type for event in events] == ["METADATA", "ERROR", "END"]
    assert (provider.asked, provider.pauses) == (1, [retry_after])


def test_a_server_that_limits_its_calls_for_ever_is_given_up() -> None:
    provider = Limited(1000, 0)

    events = list(ReasoningEngine(provider, Control(60)).stream(REQUEST))

    assert [event.type for event in events] == ["METADATA", "ERROR", "END"]
    assert provider.asked == LIMITED_RETRIES + 1


def test_a_lane_that_cannot_pause_is_waited_for_by_the_run_itself() -> None:
    provider = Limited(1, 0.05, awaited=False)

    events = list(ReasoningEngine(provider, Control(60)).stream(REQUEST))

    assert [event.type for event in events][-2:] == ["METADATA", "END"]
    assert provider.asked == 2
