"""A process that reads many replies lets their text gather; nothing of them changes by it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderTruncated, Stopped
from agents.providers.base import ModelRequest
from agents.providers.wire.pace import LONGEST, MAX_LATE, PACE, Pace
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.wire import Wire

CROWD = 200


@pytest.fixture
def crowd() -> Iterator[None]:
    """Let this process read as many replies as a busy worker does."""
    with ExitStack() as replies:
        for _ in range(CROWD):
            replies.enter_context(PACE.reading())
        yield


def test_a_reply_alone_is_read_as_it_comes() -> None:
    pace = Pace()

    with pace.reading():
        gap = pace.gap()

    assert gap == 0


def test_text_gathers_for_longer_the_more_replies_there_are_but_not_for_ever() -> None:
    pace = Pace()
    gaps = []

    with ExitStack() as replies:
        for _ in range(CROWD):
            replies.enter_context(pace.reading())
            gaps.append(pace.gap())

    assert gaps == sorted(gaps)
    assert 0 < gaps[10] < gaps[50] < gaps[-1] == LONGEST


def test_a_process_that_falls_behind_reads_less_often_until_it_has_caught_up() -> None:
    now = 1000.0
    pace = Pace(lambda: now)
    control = Control(60)

    with pace.reading(), pace.reading():
        at_first = pace.gap()
        for _ in range(1000):
            pace.gather(now - 10, control)
        behind = pace.gap()
        for _ in range(1000):
            pace.gather(now - pace.gap(), control)
        caught_up = pace.gap()

    assert at_first < behind == MAX_LATE
    assert caught_up < 2 * at_first


def test_a_reply_that_failed_slows_nobody_any_more() -> None:
    pace = Pace()

    with pytest.raises(OSError, match="gone"), pace.reading(), pace.reading():
        raise OSError("gone")

    assert pace.gap() == 0


@pytest.mark.usefixtures("crowd")
def test_a_reply_in_a_crowd_is_whole_and_in_order(ask: Ask, wire: Wire) -> None:
    words = [f"{number} " for number in range(300)]
    wire.answers(wire.STREAM, (wire.says(word) for word in words), wire.ends())

    reply = ask(wire.base_url)

    assert reply.answer == "".join(words)
    assert reply.finish.stop_reason == "stop"


class Patient(Control):
    """A control that counts how often it had to wait."""

    def __init__(self) -> None:
        super().__init__(60, idle_seconds=30)
        self.waits = 0

    def wait(self, seconds: float) -> None:
        self.waits += 1


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(
    ("is_shown", "beginning", "waits"),
    [(False, "Thought: ", False), (True, "Thought: ", True), (False, "{" * 3000, True)],
    ids=["nothing is shown yet", "some of it is shown", "it is long"],
)
def test_a_beginning_in_a_crowd_is_read_as_it_comes(
    provider_of: ProviderOf, wire: Wire, is_shown: bool, beginning: str, waits: bool
) -> None:
    has_come = threading.Event()

    def reply() -> Iterator[bytes]:
        yield wire.says(beginning)
        assert has_come.wait(10)
        yield wire.says("I know.")

    wire.answers(wire.STREAM, reply(), wire.ends())
    control = Patient()
    provider = provider_of(wire.base_url, "m")
    messages = [Message(role=Role.USER, content="hello")]
    body = provider.body(ModelRequest(purpose=Purpose.THINK, messages=messages))
    tokens = provider.stream(body, control, lambda: is_shown)
    next(tokens)
    control.waits = 0
    has_come.set()
    next(tokens)

    assert (control.waits > 0) is waits


@pytest.mark.usefixtures("crowd")
def test_a_stop_is_heard_in_a_crowd(ask: Ask, wire: Wire) -> None:
    control = Control(60, idle_seconds=30)

    def words() -> Iterator[bytes]:
        yield wire.says("so far ")
        control.stop()
        yield wire.says("no further ")

    wire.answers(wire.STREAM, words(), wire.HOLD)

    with pytest.raises(Stopped):
        ask(wire.base_url, control=control)

    assert wire.gone.wait(10)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("fault", ["CUT", "CLOSE"])
def test_a_reply_that_breaks_off_in_a_crowd_is_truncated(ask: Ask, wire: Wire, fault: str) -> None:
    wire.answers(wire.STREAM, wire.says("so "), wire.says("far "), getattr(wire, fault))

    with pytest.raises(ProviderTruncated):
        ask(wire.base_url)
