"""A flag that is set once, by any thread or signal handler, and wakes all that wait for it."""

from contextlib import suppress
from queue import Empty, SimpleQueue


class Flag:
    """What `threading.Event` is, for signal handlers too.

    An Event holds its lock for a moment of each wait. A handler that sets it in that moment, in
    the very thread that waits, waits for itself. `SimpleQueue` is made for that: its `put` may
    come in the middle of its `get`.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._wakes: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        """Tell whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it, and wake all that wait."""
        self._is_set = True
        self._wakes.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait until it is set, at most so long; tell whether it is."""
        if not self._is_set:
            with suppress(Empty):
                self._wakes.get(timeout=seconds)
                self._wakes.put(None)  # for the next who waits
        return self._is_set
