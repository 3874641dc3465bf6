"""Slots of one process: first come, first served, and a wait that any run can leave."""

import threading
from collections.abc import Callable

import pytest

from agents.control import Control
from agents.errors import OutOfTime, ProviderLimited, SlotTaken, Stopped
from agents.model.slots import InProcessSlots, Quota

QUOTA = Quota("openai", 2)


class Waiting:
    """A call that waits for a slot in a thread of its own."""

    def __init__(self, slots: InProcessSlots, quota: Quota, control: Control | None = None) -> None:
        self.control = control or Control()
        self.got: list[str] = []
        self.error: Exception | None = None
        self.done = threading.Event()
        self._slots, self._quota = slots, quota
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        try:
            self.got.append(self._slots.acquire(self._quota, self.control))
        except Exception as error:
            self.error = error
        self.done.set()


@pytest.fixture
def slots() -> InProcessSlots:
    return InProcessSlots()


@pytest.fixture
def in_line(slots: InProcessSlots) -> Callable[[Quota, int], list[Waiting]]:
    """Put calls into a line, one after the other; each stands in it before the next one comes."""

    def put(quota: Quota, count: int) -> list[Waiting]:
        waiting: list[Waiting] = []
        for number in range(count):
            waiting.append(Waiting(slots, quota))
            while slots.waiting(quota) <= number:
                assert not waiting[-1].done.wait(0.001)
        return waiting

    return put


def test_no_more_calls_go_at_once_than_the_quota_has_room_for(slots: InProcessSlots) -> None:
    for _ in range(2):
        slots.acquire(QUOTA, Control())

    with pytest.raises(SlotTaken, match="All 2 places for calls to openai"):
        slots.acquire(QUOTA, Control(), wait=False)


def test_a_call_that_gives_way_goes_after_those_that_came_later(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    quota = Quota("openai", 1)
    ticket = slots.acquire(quota, Control())
    (gives_way,) = in_line(quota._replace(gives_way=True), 1)
    later = Waiting(slots, quota)
    while slots.waiting(quota) < 2:
        assert not later.done.wait(0.001)

    slots.release(quota, ticket)
    assert later.done.wait(10)
    assert not gives_way.done.is_set()

    slots.release(quota, later.got[0])
    assert gives_way.done.wait(10)


def test_quotas_do_not_hinder_each_other(slots: InProcessSlots) -> None:
    slots.acquire(Quota("openai", 1), Control())

    assert slots.acquire(Quota("gemini", 1), Control(), wait=False)


def test_a_slot_given_back_goes_to_the_first_in_line(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    quota = Quota("openai", 1)
    ticket = slots.acquire(quota, Control())
    waiting = in_line(quota, 4)
    for call in waiting:
        slots.release(quota, ticket)
        assert call.done.wait(10)
        assert [other.done.is_set() for other in waiting] == [
            other.done.is_set() for other in waiting[: waiting.index(call) + 1]
        ] + [False] * (len(waiting) - waiting.index(call) - 1)
        (ticket,) = call.got


def test_a_slot_given_back_twice_is_one_slot(slots: InProcessSlots) -> None:
    first = slots.acquire(QUOTA, Control())
    slots.acquire(QUOTA, Control())
    slots.release(QUOTA, first)
    slots.release(QUOTA, first)
    slots.acquire(QUOTA, Control(), wait=False)

    with pytest.raises(SlotTaken):
        slots.acquire(QUOTA, Control(), wait=False)


def test_a_stopped_call_leaves_the_line_to_those_behind_it(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    quota = Quota("openai", 1)
    ticket = slots.acquire(quota, Control())
    first, second = in_line(quota, 2)

    first.control.stop()

    assert first.done.wait(10)
    assert isinstance(first.error, Stopped)
    slots.release(quota, ticket)
    assert second.done.wait(10)
    assert second.got


def test_a_call_whose_time_is_over_waits_no_more(slots: InProcessSlots) -> None:
    quota = Quota("openai", 1)
    slots.acquire(quota, Control())

    with pytest.raises(OutOfTime):
        slots.acquire(quota, Control(seconds=0.01))


def test_calls_for_one_local_model_go_together_and_those_for_another_wait(
    slots: InProcessSlots,
) -> None:
    first = slots.acquire(Quota("local", 2, "a"), Control())
    second = slots.acquire(Quota("local", 2, "a"), Control())
    slots.release(Quota("local", 2, "a"), first)

    with pytest.raises(SlotTaken) as refused:
        slots.acquire(Quota("local", 2, "b"), Control(), wait=False)

    assert refused.value.model == "a"
    slots.release(Quota("local", 2, "a"), second)
    assert slots.acquire(Quota("local", 2, "b"), Control(), wait=False)


def test_a_waiting_model_is_not_overtaken_by_the_one_at_work(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    working, other = Quota("local", 2, "a"), Quota("local", 2, "b")
    slots.acquire(working, Control())
    (waits,) = in_line(other, 1)

    with pytest.raises(SlotTaken):
        slots.acquire(working, Control(), wait=False)

    waits.control.stop()
    assert waits.done.wait(10)


def test_a_waiting_call_says_how_many_are_ahead_and_when_it_has_its_slot(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    quota, told = Quota("openai", 1), list[int | None]()
    heard = threading.Condition()

    def hear(ahead: int | None) -> None:
        with heard:
            told.append(ahead)
            heard.notify_all()

    ticket = slots.acquire(quota, Control())
    (first,) = in_line(quota, 1)
    call = Waiting(slots, quota, Control(waiting=hear))

    with heard:
        assert heard.wait_for(lambda: told == [1], 30)
    slots.release(quota, ticket)
    with heard:
        assert heard.wait_for(lambda: told == [1, 0], 30)
    slots.release(quota, *first.got)
    assert call.done.wait(30)
    assert told == [1, 0, None]


def test_a_call_that_finds_its_slot_free_says_nothing(slots: InProcessSlots) -> None:
    told: list[int | None] = []

    slots.acquire(QUOTA, Control(waiting=told.append))

    assert told == []


def test_a_call_that_waits_no_more_says_so_when_it_is_stopped(slots: InProcessSlots) -> None:
    quota, told = Quota("openai", 1), list[int | None]()
    slots.acquire(quota, Control())

    def hear(ahead: int | None) -> None:
        told.append(ahead)
        control.stop()

    control = Control(waiting=hear)

    with pytest.raises(Stopped):
        slots.acquire(quota, control)

    assert told == [0, None]


def test_a_paused_server_holds_up_nobody_who_asks_another(
    slots: InProcessSlots, in_line: Callable[[Quota, int], list[Waiting]]
) -> None:
    paused, other = Quota("openai", 1, server="a"), Quota("openai", 1, server="b")
    slots.pause(paused, 60)
    (waits,) = in_line(paused, 1)

    ticket = slots.acquire(other, Control(), wait=False)

    slots.release(other, ticket)
    assert not waits.done.is_set()
    waits.control.stop()
    assert waits.done.wait(10)


def test_a_call_whose_server_asks_for_patience_is_not_said_to_stand_in_line(
    slots: InProcessSlots,
) -> None:
    quota, told = Quota("openai", 1, server="a"), list[object]()
    slots.pause(quota, 0.6)

    slots.acquire(quota, Control(waiting=told.append, paused=lambda: told.append("paused")))

    assert told == ["paused", None]


def test_a_call_goes_when_its_servers_pause_is_over(slots: InProcessSlots) -> None:
    quota = Quota("openai", 1, server="a")
    slots.pause(quota, 0.05)

    assert slots.acquire(quota, Control(30))


@pytest.mark.parametrize(("pause", "seconds"), [(500, None), (20, 10)])
def test_a_pause_that_is_too_long_to_wait_for_is_an_error_at_once(
    slots: InProcessSlots, pause: float, seconds: float | None
) -> None:
    quota = Quota("openai", 1, server="http://a/v1")
    slots.pause(quota, pause)

    with pytest.raises(ProviderLimited, match=r"http://a/v1 wants no calls for another \d+ sec"):
        slots.acquire(quota, Control(seconds))


def test_a_shorter_pause_does_not_end_a_longer_one(slots: InProcessSlots) -> None:
    quota = Quota("openai", 1, server="a")
    slots.pause(quota, 60)

    slots.pause(quota, 0)

    with pytest.raises(SlotTaken):
        slots.acquire(quota, Control(1000), wait=False)
