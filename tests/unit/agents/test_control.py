"""Stop, interrupt and deadline reach a run wherever it is."""

import threading

import pytest

from agents.control import Control
from agents.errors import Halted, Interrupted, OutOfTime, Stopped


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
