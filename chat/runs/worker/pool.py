"""How many runs this process works on at once, and the threads that do so."""

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from chat.runs.db_retry import release_connection

logger = logging.getLogger(__name__)


class WorkNext(Protocol):
    """What a place does for as long as it finds a run."""

    def __call__(self, begun: Callable[[], None] | None = None) -> bool:
        """Work on the run that is next, and tell whether there was one; `begun` hears of it."""
        ...


class WorkerPool:
    """A fixed number of places for runs, filled by Celery's threads or by some of our own.

    Whoever has a place works on one run after the other until none may begin; so a wake-up is
    needed only where a place is empty.
    """

    def __init__(self, size: int, work_next: WorkNext) -> None:
        self.size = size
        self._work_next = work_next
        self._busy = 0
        self._changed = threading.Condition()

    @property
    def busy(self) -> int:
        """Return how many places are taken."""
        return self._busy

    def serve(self) -> None:
        """Work in this thread for as long as something waits, as soon as there is a place."""
        with self._changed:
            self._changed.wait_for(lambda: self._busy < self.size)
            self._busy += 1
        try:
            while self._work_next():
                pass
        finally:
            self._leave()

    def start_thread(self) -> None:
        """Begin by threads of our own what waits, if there is a place.

        That is for when no message came. Each of them that finds a run calls for the next one.
        """
        with self._changed:
            if self._busy >= self.size:
                return
            self._busy += 1
        try:
            # The process must not end before it has let go; a daemon's threads are daemons, too.
            threading.Thread(target=self._help, name="hand", daemon=False).start()
        except BaseException:
            self._leave()
            raise

    def _help(self) -> None:
        try:
            while self._work_next(self.start_thread):
                pass
        except Exception:
            logger.exception("A worker thread failed")
        finally:
            release_connection()
            self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify()
