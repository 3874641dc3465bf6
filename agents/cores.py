"""The cores that this process's threads run on.

Python runs one thread at a time. Where the system spreads the threads over several cores, each
hand-over wakes another core up, which may cost more than what the thread then does; a process of
many threads is faster on one core. A program that a thread starts must not be kept there with it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ALL: frozenset[int] = (
    frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
)
"""The cores that this process was started on; none where the system does not tell."""

_kept: frozenset[int] = ALL
_roaming: set[int] = set()
_lock = threading.Lock()


def keep_to(cores: frozenset[int]) -> None:
    """Keep the process's threads to these cores, but for those that roam; new ones follow."""
    global _kept
    with _lock:
        _kept = cores
        for thread in threading.enumerate():
            if thread.native_id is not None and thread.native_id not in _roaming:
                _put(thread.native_id, cores)


@contextmanager
def roaming() -> Iterator[None]:
    """Let the calling thread, and the programs that it starts, run on every core meanwhile."""
    thread = threading.get_native_id()
    with _lock:
        _roaming.add(thread)
        _put(thread, ALL)
    try:
        yield
    finally:
        with _lock:
            _roaming.discard(thread)
            _put(thread, _kept)


def _put(thread: int, cores: frozenset[int]) -> None:
    # It may have ended by now, or the cores may have been taken away: then it runs where it may.
    with suppress(OSError):
        if cores:
            os.sched_setaffinity(thread, cores)
