"""What is told to Redis after the fact goes by a thread of its own, so that nobody waits for it.

While Redis hangs each command takes seconds; those who ask, stop or allow must not stand behind it,
nor the few threads that read the record for all pages. Any command may be missed: the rows are the
truth, pages are compared with them, and workers look for what waits.
"""

import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable

from chat.singleton import once

logger = logging.getLogger(__name__)

MAX_WAITING = 1_000
"""How many commands wait while Redis is away; beyond it the oldest are missed."""

LAST_SECONDS = 2.0
"""How long the end of a process waits for its commands."""


class DeferredCommands:
    """Do one command after the other, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque(maxlen=MAX_WAITING)
        self._changed = threading.Condition()
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def add(self, command: Callable[[], None]) -> None:
        """Have it done as soon as all that came before is; it catches what is expected to fail."""
        with self._changed:
            self._waiting.append(command)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="deferred", daemon=True)
                self._thread.start()

    def flush(self, seconds: float) -> bool:
        """Wait until nothing is left to do, and tell whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._is_busy), seconds)

    def _work(self) -> None:
        while True:
            command = self._next()
            try:
                command()
            except Exception:
                # The thread serves the whole process: whatever happens, it goes on.
                logger.exception("A deferred command failed")

    def _next(self) -> Callable[[], None]:
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting)
            self._is_busy = True
            return self._waiting.popleft()


@once
def deferred() -> DeferredCommands:
    """Return this process's commands; it ends when they are done, or soon after."""
    made = DeferredCommands()
    atexit.register(made.flush, LAST_SECONDS)
    return made
