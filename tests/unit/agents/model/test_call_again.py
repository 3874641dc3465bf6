"""A call is made again where that is safe, as often and as late as the run's time allows."""

import threading
from collections.abc import Collection

import pytest

from agents.control import Control
from agents.errors import (
    AgentError,
    ProviderBusy,
    ProviderLimited,
    ProviderTruncated,
    ProviderUnreachable,
    Stopped,
)
from agents.events import ModelCalled
from agents.model.call import LIMITED_RETRIES
from agents.providers.base import IsShown, ParameterRefused, Reply, not_shown
from tests.unit.agents.model.calls import Counted, asked


class Failing(Counted):
    """A provider whose server fails with each of some errors before it answers."""

    retries = 2

    def __init__(self, *failures: AgentError, awaited: bool = True) -> None:
        super().__init__([{"say": "at last"}])
        self.failures = list(failures)
        self.pauses: list[float] = []
        self.posted: list[str] = []
        self.left_out: set[str] = set()
        self.has_failed = threading.Event()
        self._awaited = awaited

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        self.posted.append(body)
        if self.failures:
            self.has_failed.set()
            raise self.failures.pop(0)
        yield from super().stream(body, control, is_shown)

    def pause(self, seconds: float) -> bool:
        assert self.taken == self.released, "The slot is held while the quota pauses."
        self.pauses.append(seconds)
        return self._awaited

    def leave_out(self, parameters: Collection[str]) -> None:
        assert not self.failures, "What is left out is learnt from a reply."
        self.left_out.update(parameters)


def limited(retry_after: float | None, times: int = 1, *, awaited: bool = True) -> Failing:
    """Return a provider whose server limits its calls so often."""
    failures = (ProviderLimited("slow down", retry_after=retry_after) for _ in range(times))
    return Failing(*failures, awaited=awaited)


def test_a_server_that_limits_its_calls_is_asked_again_after_its_quota_paused() -> None:
    provider = limited(7, 2)

    *tokens, record = asked(provider)

    assert len(tokens) == 2
    assert isinstance(record, ModelCalled)
    assert record.call.error == ""
    assert (provider.pauses, provider.taken, provider.released) == ([7, 7], 3, 3)


def test_without_a_word_from_the_server_each_pause_is_longer() -> None:
    provider = limited(None, 4)

    list(asked(provider))

    assert provider.pauses == sorted(provider.pauses)
    assert provider.pauses[-1] > 2 * provider.pauses[0]


@pytest.mark.parametrize("retry_after", [100, 500])
def test_more_patience_than_the_run_has_is_a_failure_and_pauses_the_quota_all_the_same(
    retry_after: float,
) -> None:
    provider = limited(retry_after)

    with pytest.raises(ProviderLimited):
        list(asked(provider))

    assert (len(provider.posted), provider.pauses) == (1, [retry_after])


def test_a_server_that_limits_its_calls_for_ever_is_given_up() -> None:
    provider = limited(0, 1000)

    with pytest.raises(ProviderLimited):
        list(asked(provider))

    assert len(provider.posted) == LIMITED_RETRIES + 1


def test_a_quota_that_cannot_pause_is_waited_for_by_the_run_itself() -> None:
    provider = limited(0.05, awaited=False)

    *_, record = asked(provider)

    assert isinstance(record, ModelCalled)
    assert record.call.reply == "at last"
    assert len(provider.posted) == 2


def busy(times: int, retry_after: float = 0) -> Failing:
    """Return a provider whose server is busy so often."""
    return Failing(*(ProviderBusy("later", retry_after=retry_after) for _ in range(times)))


def test_a_server_that_is_busy_is_asked_again_with_another_slot_and_pauses_nobody() -> None:
    provider = busy(2)

    *_, record = asked(provider)

    assert isinstance(record, ModelCalled)
    assert (record.call.reply, record.call.error) == ("at last", "")
    assert (provider.taken, provider.released, provider.pauses) == (3, 3, [])


def test_a_server_that_is_not_reached_for_ever_is_given_up() -> None:
    provider = Failing(*(ProviderUnreachable("gone", retry_after=0) for _ in range(9)))

    with pytest.raises(ProviderUnreachable):
        list(asked(provider))

    assert len(provider.posted) == provider.retries + 1


def test_limits_and_faults_of_one_call_are_counted_apart() -> None:
    provider = limited(0, LIMITED_RETRIES)
    provider.failures += busy(provider.retries).failures

    *_, record = asked(provider)

    assert isinstance(record, ModelCalled)
    assert record.call.reply == "at last"


def test_patience_for_a_busy_server_that_the_run_has_not_got_is_not_begun() -> None:
    provider = busy(1, retry_after=100)

    with pytest.raises(ProviderBusy):
        list(asked(provider))

    assert len(provider.posted) == 1


def test_a_wait_for_a_busy_server_is_within_the_time_of_the_call() -> None:
    provider = busy(1, retry_after=60)

    with pytest.raises(ProviderBusy):
        list(asked(provider, Control(300, call_seconds=30)))

    assert len(provider.posted) == 1


def test_a_pause_of_the_quota_is_not_within_the_time_of_the_call() -> None:
    provider = limited(60)

    *_, record = asked(provider, Control(300, call_seconds=30))

    assert isinstance(record, ModelCalled)
    assert record.call.reply == "at last"


@pytest.mark.parametrize("kind", ["busy", "unreachable"])
def test_a_failure_that_is_meant_is_not_asked_about_again(kind: str) -> None:
    provider = Counted([{"fail": kind}, {"say": "never said"}])

    with pytest.raises((ProviderBusy, ProviderUnreachable)):
        list(asked(provider))

    assert provider.taken == 1


def test_a_stop_ends_the_wait_for_a_busy_server_and_the_failed_call_is_told() -> None:
    provider, control = busy(1, retry_after=100), Control(300)

    def stop() -> None:
        assert provider.has_failed.wait(10)
        control.stop()

    threading.Thread(target=stop).start()
    items = asked(provider, control)

    record = next(items)

    assert isinstance(record, ModelCalled)
    assert record.call.error
    with pytest.raises(Stopped):
        next(items)
    assert (provider.taken, provider.released) == (1, 1)


def test_a_parameter_that_is_refused_is_left_out_from_then_on_once_a_reply_came() -> None:
    refusals = [ParameterRefused("no", "stop", "second"), ParameterRefused("no", "n", "third")]
    provider = Failing(*refusals)

    *_, record = asked(provider)

    assert isinstance(record, ModelCalled)
    assert provider.posted[1:] == ["second", "third"]
    assert record.call.request == "third"
    assert provider.left_out == {"stop", "n"}


def test_a_parameter_is_not_left_out_where_the_server_refuses_all_the_same() -> None:
    refusal, still_busy = ParameterRefused("no", "stop", "second"), ProviderTruncated("broken")
    provider = Failing(refusal, still_busy)

    with pytest.raises(ProviderTruncated):
        list(asked(provider))

    assert provider.left_out == set()
