"""How many runs this process works on at once, and the threads that do so."""

import logging
import threading

from django.conf import settings

from chat.runs.db_retry import release_connection
from chat.runs.worker import runner
from chat.singleton import once

logger = logging.getLogger(__name__)


class WorkerPool:
    """A fixed number of places for runs, filled by Celery's threads or by some of our own.

    Whoever has a place works on one run after the other until none may begin; so a wake-up is
    needed only where a place is empty.
    """

    def __init__(self, size: int) -> None:
        self.size = size
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
            while runner.work_next():
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
            while runner.work_next(self.start_thread):
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


@once
def worker_pool() -> WorkerPool:
    """Return this process's crew."""
    return WorkerPool(settings.CELERY_WORKER_CONCURRENCY)
