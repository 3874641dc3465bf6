"""Slots of one process: first come, first served, and a wait that any run can leave."""

import threading
from collections.abc import Callable

import pytest

from agents.control import Control
from agents.errors import OutOfTime, ProviderLimited, SlotTaken, Stopped
from agents.model.slots import InProcessSlots, Lane

LANE = Lane("openai", 2)


class Waiting:
    """A call that waits for a slot in a thread of its own."""

    def __init__(self, slots: InProcessSlots, lane: Lane, control: Control | None = None) -> None:
        self.control = control or Control()
        self.got: list[str] = []
        self.error: Exception | None = None
        self.done = threading.Event()
        self._slots, self._lane = slots, lane
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        try:
            self.got.append(self._slots.acquire(self._lane, self.control))
        except Exception as error:
            self.error = error
        self.done.set()


@pytest.fixture
def slots() -> InProcessSlots:
    return InProcessSlots()


@pytest.fixture
def in_line(slots: InProcessSlots) -> Callable[[Lane, int], list[Waiting]]:
    """Put calls into a line, one after the other; each stands in it before the next one comes."""

    def put(lane: Lane, count: int) -> list[Waiting]:
        waiting: list[Waiting] = []
        for number in range(count):
            waiting.append(Waiting(slots, lane))
            while slots.waiting(lane) <= number:
                assert not waiting[-1].done.wait(0.001)
        return waiting

    return put


def test_no_more_calls_go_at_once_than_the_lane_has_room_for(slots: InProcessSlots) -> None:
    for _ in range(2):
        slots.acquire(LANE, Control())

    with pytest.raises(SlotTaken, match="All 2 places for calls to openai"):
        slots.acquire(LANE, Control(), wait=False)


def test_lanes_do_not_hinder_each_other(slots: InProcessSlots) -> None:
    slots.acquire(Lane("openai", 1), Control())

    assert slots.acquire(Lane("gemini", 1), Control(), wait=False)


def test_a_slot_given_back_goes_to_the_first_in_line(
    slots: InProcessSlots, in_line: Callable[[Lane, int], list[Waiting]]
) -> None:
    lane = Lane("openai", 1)
    ticket = slots.acquire(lane, Control())
    waiting = in_line(lane, 4)
    for call in waiting:
        slots.release(lane, ticket)
        assert call.done.wait(10)
        assert [other.done.is_set() for other in waiting] == [
            other.done.is_set() for other in waiting[: waiting.index(call) + 1]
        ] + [False] * (len(waiting) - waiting.index(call) - 1)
        (ticket,) = call.got


def test_a_slot_given_back_twice_is_one_slot(slots: InProcessSlots) -> None:
    first = slots.acquire(LANE, Control())
    slots.acquire(LANE, Control())
    slots.release(LANE, first)
    slots.release(LANE, first)
    slots.acquire(LANE, Control(), wait=False)

    with pytest.raises(SlotTaken):
        slots.acquire(LANE, Control(), wait=False)


def test_a_stopped_call_leaves_the_line_to_those_behind_it(
    slots: InProcessSlots, in_line: Callable[[Lane, int], list[Waiting]]
) -> None:
    lane = Lane("openai", 1)
    ticket = slots.acquire(lane, Control())
    first, second = in_line(lane, 2)

    first.control.stop()

    assert first.done.wait(10)
    assert isinstance(first.error, Stopped)
    slots.release(lane, ticket)
    assert second.done.wait(10)
    assert second.got


def test_a_call_whose_time_is_over_waits_no_more(slots: InProcessSlots) -> None:
    lane = Lane("openai", 1)
    slots.acquire(lane, Control())

    with pytest.raises(OutOfTime):
        slots.acquire(lane, Control(seconds=0.01))


def test_calls_for_one_local_model_go_together_and_those_for_another_wait(
    slots: InProcessSlots,
) -> None:
    first = slots.acquire(Lane("local", 2, "a"), Control())
    second = slots.acquire(Lane("local", 2, "a"), Control())
    slots.release(Lane("local", 2, "a"), first)

    with pytest.raises(SlotTaken) as refused:
        slots.acquire(Lane("local", 2, "b"), Control(), wait=False)

    assert refused.value.model == "a"
    slots.release(Lane("local", 2, "a"), second)
    assert slots.acquire(Lane("local", 2, "b"), Control(), wait=False)


def test_a_waiting_model_is_not_overtaken_by_the_one_at_work(
    slots: InProcessSlots, in_line: Callable[[Lane, int], list[Waiting]]
) -> None:
    working, other = Lane("local", 2, "a"), Lane("local", 2, "b")
    slots.acquire(working, Control())
    (waits,) = in_line(other, 1)

    with pytest.raises(SlotTaken):
        slots.acquire(working, Control(), wait=False)

    waits.control.stop()
    assert waits.done.wait(10)


def test_a_waiting_call_says_how_many_are_ahead_and_when_it_has_its_slot(
    slots: InProcessSlots, in_line: Callable[[Lane, int], list[Waiting]]
) -> None:
    lane, told = Lane("openai", 1), list[int | None]()
    heard = threading.Condition()

    def hear(ahead: int | None) -> None:
        with heard:
            told.append(ahead)
            heard.notify_all()

    ticket = slots.acquire(lane, Control())
    (first,) = in_line(lane, 1)
    call = Waiting(slots, lane, Control(waiting=hear))

    with heard:
        assert heard.wait_for(lambda: told == [1], 30)
    slots.release(lane, ticket)
    with heard:
        assert heard.wait_for(lambda: told == [1, 0], 30)
    slots.release(lane, *first.got)
    assert call.done.wait(30)
    assert told == [1, 0, None]


def test_a_call_that_finds_its_slot_free_says_nothing(slots: InProcessSlots) -> None:
    told: list[int | None] = []

    slots.acquire(LANE, Control(waiting=told.append))

    assert told == []


def test_a_call_that_waits_no_more_says_so_when_it_is_stopped(slots: InProcessSlots) -> None:
    lane, told = Lane("openai", 1), list[int | None]()
    slots.acquire(lane, Control())

    def hear(ahead: int | None) -> None:
        told.append(ahead)
        control.stop()

    control = Control(waiting=hear)

    with pytest.raises(Stopped):
        slots.acquire(lane, control)

    assert told == [0, None]


def test_a_paused_server_holds_up_nobody_who_asks_another(
    slots: InProcessSlots, in_line: Callable[[Lane, int], list[Waiting]]
) -> None:
    paused, other = Lane("openai", 1, server="a"), Lane("openai", 1, server="b")
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
    lane, told = Lane("openai", 1, server="a"), list[object]()
    slots.pause(lane, 0.6)

    slots.acquire(lane, Control(waiting=told.append, paused=lambda: told.append("paused")))

    assert told == ["paused", None]


def test_a_call_goes_when_its_servers_pause_is_over(slots: InProcessSlots) -> None:
    lane = Lane("openai", 1, server="a")
    slots.pause(lane, 0.05)

    assert slots.acquire(lane, Control(30))


@pytest.mark.parametrize(("pause", "seconds"), [(500, None), (20, 10)])
def test_a_pause_that_is_too_long_to_wait_for_is_an_error_at_once(
    slots: InProcessSlots, pause: float, seconds: float | None
) -> None:
    lane = Lane("openai", 1, server="http://a/v1")
    slots.pause(lane, pause)

    with pytest.raises(ProviderLimited, match=r"http://a/v1 wants no calls for another \d+ sec"):
        slots.acquire(lane, Control(seconds))


def test_a_shorter_pause_does_not_end_a_longer_one(slots: InProcessSlots) -> None:
    lane = Lane("openai", 1, server="a")
    slots.pause(lane, 60)

    slots.pause(lane, 0)

    with pytest.raises(SlotTaken):
        slots.acquire(lane, Control(1000), wait=False)
