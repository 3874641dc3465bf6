"""A call ends with its own time, its run's time and its run's stop, whatever its tool does."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.contracts import ToolCall
from agents.control import Control
from agents.errors import AgentError, Halted, Interrupted, OutOfTime, Stopped
from agents.tools.output import LIMIT
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """Give an event that is not set until the test is over, for tools that hang."""
    event = threading.Event()
    yield event
    event.set()


def test_a_tool_past_its_time_is_left_behind(
    observe: Callable[..., Any], never: threading.Event
) -> None:
    @tool(timeout=0.2)
    def hang() -> Iterator[str]:
        """Begin, then hang."""
        yield "began"
        never.wait()

    seen = observe(hang)

    assert seen.observation.error == "ToolTimeout"
    assert seen.observation.text == "began\nhang ran longer than 0.2 s and was stopped."


def test_an_endless_iterator_ends_with_its_time(observe: Callable[..., Any]) -> None:
    @tool(timeout=0.3)
    def endless() -> Iterator[str]:
        """Say something for ever."""
        while True:
            yield "again and again "

    seen = observe(endless)

    assert seen.observation.error == "ToolTimeout"
    assert len(seen.observation.text) < LIMIT + 200


@pytest.mark.parametrize(
    ("halt", "error"), [(Control.stop, Stopped), (Control.interrupt, Interrupted)]
)
def test_a_halt_is_obeyed_even_if_the_tool_does_not(
    halt: Callable[[Control], None], error: type[Halted], never: threading.Event
) -> None:
    @tool(timeout=600)
    def hang() -> Iterator[str]:
        """Begin, then hang."""
        yield "began"
        never.wait()

    control = Control()
    events = Toolkit([hang]).call(ToolCall(tool="hang", inputs={}), control)
    next(events)
    halt(control)

    with pytest.raises(error):
        next(events)


def test_the_runs_deadline_ends_the_call(
    observe: Callable[..., Any], never: threading.Event
) -> None:
    @tool(timeout=600)
    def hang() -> str:
        """Hang."""
        never.wait()
        return ""

    with pytest.raises(OutOfTime):
        observe(hang, control=Control(seconds=0.2))


def test_a_halted_run_calls_nothing(observe: Callable[..., Any]) -> None:
    ran = []

    @tool()
    def note() -> str:
        """Take note."""
        ran.append(1)
        return ""

    control = Control()
    control.stop()

    with pytest.raises(Stopped):
        observe(note, control=control)
    assert ran == []


def test_a_tool_that_asks_for_control_is_told_of_a_stop() -> None:
    told = threading.Event()

    @tool()
    def patient(control: Control) -> Iterator[str]:
        """Wait for a word from the run."""
        yield "waiting"
        try:
            control.wait(600)
        finally:
            told.set()

    control = Control()
    events = Toolkit([patient]).call(ToolCall(tool="patient", inputs={}), control)
    next(events)
    control.stop()

    with pytest.raises(Stopped):
        next(events)
    assert told.wait(20)


def test_a_tool_is_told_when_nobody_reads_on() -> None:
    told = threading.Event()

    @tool()
    def patient(control: Control) -> Iterator[str]:
        """Wait for a word from the run."""
        yield "waiting"
        try:
            control.wait(600)
        except AgentError:
            told.set()
            raise

    events = Toolkit([patient]).call(ToolCall(tool="patient", inputs={}), Control())
    next(events)
    events.close()

    assert told.wait(20)
