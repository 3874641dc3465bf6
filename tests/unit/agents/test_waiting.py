"""A wait ends with what it waits for, with its patience, or with the run; and asks in between."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from agents.control import Control
from agents.errors import OutOfTime, Stopped
from agents.waiting import result_of, sliced, until


class Vain(Exception):
    """Nothing came."""


class Line:
    """Something that brings its answer at a certain look, and stops a run at another."""

    def __init__(self, answers_at: int, stop: Callable[[], None] = lambda: None) -> None:
        self.waits: list[float] = []
        self._answers_at = answers_at
        self._stop = stop

    def read(self, seconds: float) -> str:
        self.waits.append(seconds)
        if len(self.waits) == self._answers_at:
            return "here"
        self._stop()
        raise Vain


def test_a_read_is_made_again_in_slices_until_something_comes() -> None:
    line = Line(answers_at=3)

    assert sliced(line.read, Control(), Vain, each=0.01) == "here"
    assert line.waits == [0.01] * 3


def test_a_read_that_is_in_vain_for_too_long_is_raised() -> None:
    line = Line(answers_at=0)

    with pytest.raises(Vain):
        sliced(line.read, Control(), Vain, seconds=0)

    assert len(line.waits) == 1


def test_what_a_read_raises_besides_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        sliced(lambda _: 1 // 0, Control(), Vain)


def test_no_slice_is_longer_than_the_run_has_time() -> None:
    line = Line(answers_at=1)

    sliced(line.read, Control(5), Vain, each=60)

    assert 0 < line.waits[0] <= 5


def test_a_stop_ends_a_wait_after_its_slice() -> None:
    control = Control()
    line = Line(answers_at=0, stop=control.stop)

    with pytest.raises(Stopped):
        sliced(line.read, control, Vain)

    assert len(line.waits) == 1


def test_a_run_that_must_not_go_on_waits_for_nothing() -> None:
    line = Line(answers_at=1)

    with pytest.raises(OutOfTime):
        sliced(line.read, Control(0), Vain)

    assert line.waits == []


@pytest.mark.parametrize("has_come", [True, False])
def test_a_wait_tells_whether_it_came_to_that(has_come: bool) -> None:
    assert until(lambda _: has_come, Control(), seconds=0) is has_come


def test_what_a_future_comes_to_is_returned_or_raised() -> None:
    done: Future[str] = Future()
    threading.Timer(0, done.set_result, ("done",)).start()
    late: Future[str] = Future()
    late.set_exception(TimeoutError("of its own"))

    assert result_of(done, Control(60)) == "done"
    with pytest.raises(TimeoutError, match="of its own"):
        result_of(late, Control(60))


def test_a_future_is_left_when_the_run_is_stopped() -> None:
    never: Future[str] = Future()
    control = Control()
    threading.Timer(0, control.stop).start()

    with pytest.raises(Stopped):
        result_of(never, control)

    assert not never.cancelled()
