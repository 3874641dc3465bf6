"""Which run the lines of a log are about: known in the thread that works on it, and in its tools'.

Formatters read it, so that no message needs to name its run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class RunInHand(NamedTuple):
    """A run, and which attempt at it this is."""

    run: int
    attempt: int


_in_hand: ContextVar[RunInHand | None] = ContextVar("run_in_hand", default=None)


def run_in_hand() -> RunInHand | None:
    """Return the run that this thread works on, None outside of any."""
    return _in_hand.get()


@contextmanager
def working_on(run_id: int, attempt: int) -> Iterator[None]:
    """Have every line that is logged within the block say its run."""
    token = _in_hand.set(RunInHand(run_id, attempt))
    try:
        yield
    finally:
        _in_hand.reset(token)
