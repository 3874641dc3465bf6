"""How often a process looks for more of the replies that it reads.

A reply comes a token at a time, and to wake a thread for each costs several times what it takes to
read it: a worker with a hundred replies would do little else. So the more replies a process reads,
and the later its threads wake up, the longer it lets text gather; a process that falls behind has
time left for what begins and what is stopped. One reply alone is read as it comes, and so is the
beginning of each.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents.control import Control

EACH = 0.0015
"""Seconds that every further reply adds to the time between two reads of one."""
LONGEST = 0.2
"""Seconds that many replies add in all; text still grows five times a second."""
LATENESS = 12.0
"""How many times the seconds that threads wake too late are added."""
MAX_LATE = 0.5
"""Seconds between two reads when the process is far behind."""
SMOOTHED = 50
"""Over how many reads lateness is averaged."""


class Pace:
    """The replies that are read at once, and how long each waits between two reads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._count = 0
        self._late = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count a reply for as long as it is read."""
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1

    def gap(self) -> float:
        """Return the seconds from one read of a reply to the next."""
        if self._count < 2:
            return 0.0
        gap = min(LONGEST, EACH * (self._count - 1)) + LATENESS * self._late
        return min(MAX_LATE, gap)

    def gather(self, read_at: float, control: Control) -> None:
        """Wait until a reply that was read last at `read_at` is due; raises as `control` does."""
        due = read_at + self.gap()
        early = due - self._clock()
        if early > 0:
            control.wait(early)
        # Threads that write here at once lose one of many samples at most.
        self._late += (min(MAX_LATE, self._clock() - due) - self._late) / SMOOTHED


PACE = Pace()
"""This process's pace."""
