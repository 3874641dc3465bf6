"""Carry out several calls at the same time, each in a thread of its own."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextvars import copy_context
from queue import Empty, SimpleQueue

from agents.act.run_action import Calls
from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.errors import ErrorKind, Halted
from agents.events import ActionStarted, Event, ObservationDelta, Observed
from agents.waiting import sliced

MOST = 8
"""How many calls of one turn run at the same time; the others follow as these end."""

_Told = SimpleQueue[Event | Exception]


def run_at_once(calls: Mapping[int, ToolCall], toolkit: Calls, control: Control) -> Iterator[Event]:
    """Yield what is told of the calls, by their places in the turn, until each is observed.

    Raises what `control.check` does within moments of the run's halt; then, and where nobody reads
    on, what still runs is stopped.
    """
    own = Control(control.remaining(), control.idle_seconds)
    told: _Told = SimpleQueue()
    waiting, running = deque(calls.items()), 0
    try:
        while waiting or running:
            while waiting and running < MOST:
                position, call = waiting.popleft()
                yield ActionStarted(position=position)
                running += _started(position, call, toolkit, own, told)
            event = sliced(lambda seconds: told.get(timeout=seconds), control, Empty)
            if isinstance(event, Exception):
                control.check()
                raise event
            running -= isinstance(event, Observed)
            yield event
    finally:
        own.stop()


def _started(position: int, call: ToolCall, toolkit: Calls, control: Control, told: _Told) -> int:
    """Start a call in a thread of its own; one that cannot be started has failed."""
    work = copy_context().run
    thread = threading.Thread(
        target=work,
        args=(_run, position, call, toolkit, control, told),
        name=f"action-{position}",
        daemon=True,
    )
    try:
        thread.start()
    except RuntimeError:
        text = "This machine cannot start another tool now; try again later."
        failed = Observation(text=text, error=ErrorKind.TOOL_FAILED)
        told.put(Observed(observation=failed, position=position))
    return 1


def _run(position: int, call: ToolCall, toolkit: Calls, control: Control, told: _Told) -> None:
    """Tell of one call what its tool tells; a halt is told as well."""
    try:
        running = toolkit.call(call, control)
        while True:
            try:
                delta = next(running)
            except StopIteration as end:
                told.put(Observed(observation=end.value, position=position))
                return
            told.put(ObservationDelta(text=delta.text, position=position))
    except Halted as halt:
        told.put(halt)
    except Exception as error:
        told.put(error)
