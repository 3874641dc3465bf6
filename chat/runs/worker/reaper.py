"""A thread of each worker that looks after the runs that nobody holds.

It keeps a schedule of its own: it goes on while all places are taken, while the broker is away and
while Redis hangs. So a lost message or a dead worker delays a run by moments, and never for ever.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection

from chat.models import Run
from chat.runs.approvals import expire
from chat.runs.db_retry import release_connection
from chat.runs.lease import release_expired
from chat.runs.stop import end_stopped
from chat.runs.wake import wake
from chat.runs.worker.heartbeat import RENEW_SECONDS
from chat.runs.worker.queue_repair import repair_queues
from chat.search.documents.turns import index_open_turns
from chat.stream.announce import announce_interrupted

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
RECOUNT_SECONDS = 3600.0
AT_ONCE = 1.0
"""How long a connection takes to be had, unless Postgres was away."""
PATIENT_SECONDS = max(3.0, 2 * RENEW_SECONDS)
"""How long every worker gets to renew its leases, before one that could not see them takes any."""


class Reaper:
    """Take back what a dead worker held, and have `begin` begin here what no message told of."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._over = threading.Event()
        self._untold: deque[int] = deque()
        self._recounted: float | None = None
        self._thread: threading.Thread | None = None
        self._patient_until = 0.0

    def start(self) -> None:
        """Look from now on, until it is closed."""
        if self._thread is None:
            self._patient_until = time.monotonic() + PATIENT_SECONDS
            self._thread = threading.Thread(target=self._look_for_ever, name="reaper", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Look no more, after the round that is under way."""
        self._over.set()

    def look(self) -> None:
        """Do one round; whatever becomes of one duty, the others are done."""
        first = (self._recount, self._take_back, end_stopped, self._begin, self._resume)
        for duty in (*first, index_open_turns):
            try:
                duty()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The reaper cannot reach Postgres: %s", error)
                self._patient_until = time.monotonic() + PATIENT_SECONDS
            except Exception:
                logger.exception("The reaper failed")
            finally:
                release_connection()

    def _look_for_ever(self) -> None:
        while not self._over.is_set():
            self.look()
            # Several workers that were started at once shall not look at once.
            self._over.wait(LOOK_SECONDS * random.uniform(0.75, 1.25))  # noqa: S311

    def _recount(self) -> None:
        if self._recounted is None or time.monotonic() - self._recounted > RECOUNT_SECONDS:
            repair_queues()
            self._recounted = time.monotonic()

    def _take_back(self) -> None:
        """Take back what a dead worker held, and tell of it before anybody goes on with it.

        When Postgres was away, those who live first get the time to say so.
        """
        asked_at = time.monotonic()
        connection.ensure_connection()
        now = time.monotonic()
        # Where connections are always slow to be had, every other time is time enough.
        if now - asked_at > AT_ONCE and now > self._patient_until + PATIENT_SECONDS:
            self._patient_until = now + PATIENT_SECONDS
        if now < self._patient_until:
            return
        self._untold.extend(release_expired())
        self._tell()

    def _resume(self) -> None:
        self._untold.extend(expire())
        self._tell()

    def _tell(self) -> None:
        while self._untold:
            run = Run.objects.filter(pk=self._untold.popleft()).first()
            if run is not None:
                announce_interrupted(run)
                wake(run.pk)
