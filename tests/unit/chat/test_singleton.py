"""What a process has one of is one, whoever asks first."""

import threading
from collections.abc import Callable

import pytest

from chat.runs.worker.tasks import here
from chat.singleton import once
from chat.stream.deferred import deferred
from chat.stream.streams import client


def first_askers(ask: Callable[[], object]) -> list[object]:
    """Let many threads ask at the same moment, and return what they got."""
    start, answers = threading.Barrier(16), list[object]()

    def thread() -> None:
        start.wait()
        answers.append(ask())

    threads = [threading.Thread(target=thread) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return answers


def test_threads_that_ask_first_at_once_get_the_same_thing() -> None:
    made = list[object]()
    slow = threading.Event()

    @once
    def make() -> object:
        slow.wait(0.05)
        made.append(object())
        return made[-1]

    answers = first_askers(make)

    assert answers == made * 16
    assert len(made) == 1


@pytest.mark.parametrize("of_a_process", [client, deferred, here])
def test_the_live_path_has_one_of_each(of_a_process: object) -> None:
    assert isinstance(of_a_process, once)


def test_after_clearing_another_one_is_made() -> None:
    make = once(object)
    first = make()
    make.cache_clear()
    assert make() is not first
