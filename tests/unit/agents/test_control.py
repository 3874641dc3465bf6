"""Stop, interrupt and deadline reach a run wherever it is."""

import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from agents.control import Control
from agents.errors import Halted, Interrupted, OutOfTime, ProviderSlow, Stopped


def test_a_fresh_control_lets_the_run_go_on() -> None:
    control = Control()

    control.check()

    assert control.remaining() == float("inf")


def test_a_stop_is_seen_at_the_next_check() -> None:
    control = Control()

    control.stop()

    with pytest.raises(Stopped):
        control.check()


def test_an_interrupt_is_told_from_a_stop() -> None:
    control = Control()

    control.interrupt()

    with pytest.raises(Interrupted):
        control.check()


def test_a_call_that_takes_too_long_is_cut_off_and_the_run_is_not() -> None:
    control = Control(call_seconds=0)

    with control.calling(), pytest.raises(ProviderSlow, match="longer than 0 seconds"):
        control.check()

    control.check()
    assert control.remaining() == float("inf")


def test_what_is_waited_for_in_a_call_is_waited_for_no_longer_than_it_may_take() -> None:
    control = Control(call_seconds=0.01)

    with control.calling(), pytest.raises(ProviderSlow):
        control.wait(3600)


def test_the_rest_of_a_call_may_be_given_less_time_than_the_call_has() -> None:
    control = Control(60, call_seconds=30)

    with control.calling():
        with control.calling_at_most(0), pytest.raises(ProviderSlow, match="longer than 0 seconds"):
            control.check()
        with control.calling_at_most(1000):
            assert control.remaining() <= 30
        control.check()


def test_who_is_leaving_lets_go_of_the_run_at_a_safe_point_and_nowhere_else() -> None:
    control = Control()

    control.leave()

    control.check()
    with pytest.raises(Interrupted):
        control.safe_point()


def test_a_stop_comes_before_leaving() -> None:
    control = Control()
    control.leave()
    control.stop()

    with pytest.raises(Stopped):
        control.safe_point()


def test_the_first_cause_wins() -> None:
    control = Control()
    control.stop()

    control.interrupt()

    with pytest.raises(Stopped):
        control.check()


def test_a_used_up_deadline_ends_the_run() -> None:
    control = Control(seconds=0)

    with pytest.raises(OutOfTime):
        control.check()


def test_waiting_ends_at_the_deadline() -> None:
    control = Control(seconds=0.01)

    with pytest.raises(OutOfTime):
        control.wait(3600)


def test_a_stop_wakes_a_run_that_waits() -> None:
    control = Control()
    caught: list[Halted] = []

    def run() -> None:
        try:
            control.wait(3600)
        except Halted as halted:
            caught.append(halted)

    thread = threading.Thread(target=run)
    thread.start()
    control.stop()
    thread.join(timeout=30)

    assert not thread.is_alive()
    assert isinstance(caught[0], Stopped)


def test_a_signal_may_stop_a_run_at_any_moment_of_its_waiting() -> None:
    """What a handler interrupts is its own thread, in the middle of whatever that does."""
    moments = 0
    while _stop_while_it_waits(moments):
        moments += 1

    assert moments > 10


def _stop_while_it_waits(moment: int) -> bool:
    """Stop a run as a handler would at this instruction of its waiting; tell if there was one."""
    control = Control()
    passed = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal passed
        frame.f_trace_opcodes = True
        if event == "opcode":
            if passed == moment:
                control.stop()
            passed += 1
        return trace

    sys.settrace(trace)
    try:
        with suppress(Stopped):
            control.wait(0)
    finally:
        sys.settrace(None)
    return passed > moment


def test_only_news_of_waiting_is_passed_on() -> None:
    told: list[int | None] = []
    control = Control(waiting=told.append)

    for ahead in (None, 3, 3, 2, None, None, 0):
        control.tell_waiting(ahead)

    assert told == [3, 2, None, 0]


def test_a_pause_of_the_server_is_told_once_and_that_it_is_over() -> None:
    told: list[object] = []
    control = Control(waiting=told.append, paused=lambda: told.append("paused"))

    control.tell_paused()
    control.tell_paused()
    control.tell_waiting(None)
    control.tell_waiting(None)

    assert told == ["paused", None]


def test_nobody_has_to_listen_to_the_waiting() -> None:
    control = Control()

    control.tell_waiting(3)
    control.tell_paused()

    control.check()
