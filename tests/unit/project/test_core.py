"""A worker keeps to one core that is free, and leaves it to others who need it."""

import os
import random
import subprocess
import sys
import threading

import pytest

from agents.cores import ALL, keep_to, roaming
from project.ops.core import Core

TWO = frozenset((0, 1))
only_where_there_is_a_choice = pytest.mark.skipif(len(ALL) < 2, reason="one core is no choice")


class Coin(random.Random):
    """Chance that always falls on one side."""

    def __init__(self, side: float) -> None:
        super().__init__()
        self._side = side

    def random(self) -> float:
        return self._side


def test_a_worker_that_does_nothing_stays_where_it_is() -> None:
    core = Core(TWO, Coin(0.0))
    assert core.choose({0: 1.0, 1: 1.0}, 0.01) == TWO


def test_a_busy_worker_goes_to_the_core_that_is_free() -> None:
    core = Core(TWO, Coin(0.0))
    assert core.choose({0: 0.1, 1: 0.6}, 0.3) == {1}


def test_what_it_took_of_each_core_itself_does_not_keep_it_from_one() -> None:
    core = Core(TWO, Coin(0.0))
    assert core.choose({0: 0.0, 1: 0.2}, 0.9) == {1}


def test_a_worker_stays_while_its_core_is_its_own() -> None:
    core = Core(TWO, Coin(0.0))
    core.current = 1
    assert core.choose({0: 1.0, 1: 0.05}, 0.9) == {1}


def test_a_worker_leaves_a_core_that_others_need() -> None:
    core = Core(TWO, Coin(0.0))
    core.current = 1
    assert core.choose({0: 0.9, 1: 0.0}, 0.5) == {0}


def test_of_two_that_meet_on_a_core_one_may_stay() -> None:
    core = Core(TWO, Coin(0.9))
    core.current = 1
    assert core.choose({0: 0.9, 1: 0.0}, 0.5) == {1}


def test_a_worker_runs_on_all_cores_where_none_is_free() -> None:
    core = Core(TWO, Coin(0.0))
    core.current = 1
    assert core.choose({0: 0.1, 1: 0.0}, 0.5) == TWO


@only_where_there_is_a_choice
def test_threads_are_kept_together_and_programs_are_not() -> None:
    one = frozenset((min(ALL),))
    seen: list[set[int]] = []
    told, looks = threading.Event(), threading.Event()

    def work() -> None:
        told.wait(10)
        seen.append(os.sched_getaffinity(0))
        looks.set()

    threading.Thread(target=work).start()
    ask = "import os; print(*sorted(os.sched_getaffinity(0)))"
    try:
        keep_to(one)
        told.set()
        assert looks.wait(10)
        with roaming():
            said = subprocess.run(
                [sys.executable, "-c", ask], capture_output=True, text=True, check=True
            )
        after = os.sched_getaffinity(0)
    finally:
        keep_to(ALL)

    assert seen == [one]
    assert said.stdout.split() == [str(core) for core in sorted(ALL)]
    assert after == one
