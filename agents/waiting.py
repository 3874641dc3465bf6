"""Waits that a halted run leaves: made in slices of a moment, between which its control is asked.

A thread that blocks cannot be woken by another one, so nothing that a run waits for may block for
longer than a slice.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from agents.control import Control

SLICE = 0.1
"""Seconds between two looks at the run's control."""
_SHORTEST = 0.001

T = TypeVar("T")


class _NotYet(Exception):
    """Raised by a wait that was in vain."""


def sliced(
    read: Callable[[float], T],
    control: Control,
    in_vain: type[Exception],
    *,
    seconds: float = math.inf,
    each: float = SLICE,
) -> T:
    """Return what `read` returns, which waits for as long as it is told and may raise `in_vain`.

    What was in vain for `seconds` is raised, and what `control.check` raises. A read that was in
    vain must have taken nothing, for it is made again.
    """
    end = time.monotonic() + seconds
    while True:
        control.check()
        left = min(each, end - time.monotonic(), control.remaining())
        try:
            return read(max(_SHORTEST, left))
        except in_vain:
            if time.monotonic() >= end:
                raise


def until(
    has_come: Callable[[float], object],
    control: Control,
    *,
    seconds: float = math.inf,
    each: float = SLICE,
) -> bool:
    """Wait until `has_come`, which waits for as long as it is told, says so; tell whether it did.

    It did not when `seconds` are over. Raises what `control.check` does.
    """

    def look(moment: float) -> bool:
        if not has_come(moment):
            raise _NotYet
        return True

    try:
        return sliced(look, control, _NotYet, seconds=seconds, each=each)
    except _NotYet:
        return False


def result_of(future: Future[T], control: Control, *, each: float = SLICE) -> T:
    """Return what comes of a future, also what it raises; it goes on when the run is halted."""
    until(lambda moment: wait([future], moment).done, control, each=each)
    return future.result()
