"""A worker process: all that it has to work on runs with, from its start to its end."""

import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError

from chat.metrics.instruments import count_attempt
from chat.models import Run
from chat.runs.db_retry import release_connection, retrying
from chat.runs.queue import anybody_waits
from chat.runs.tools import read_setup
from chat.runs.worker.attempt import Attempt
from chat.runs.worker.claim import claim, claim_next
from chat.runs.worker.heartbeat import Watch
from chat.runs.worker.log_context import working_on
from chat.runs.worker.pool import WorkerPool
from chat.runs.worker.providers import Providers
from chat.runs.worker.reaper import Reaper
from chat.runs.worker.sweeper import Sweeper
from chat.singleton import once
from chat.stream.publisher import Publisher

logger = logging.getLogger(__name__)

CLAIMS = 4
"""How many threads claim at once: however many wake up together, a few connections will do."""
FLUSH_SECONDS = 1.0
"""How long the last frames wait for Redis when the worker closes."""


class Worker:
    """Places for runs, and what watches over them, publishes them and gives them their models."""

    def __init__(self) -> None:
        self.publisher = Publisher()
        self.providers = Providers()
        self.tools = once(read_setup)
        self.watch = Watch()
        self.pool = WorkerPool(settings.CELERY_WORKER_CONCURRENCY, self.work_next)
        self.reaper = Reaper(self._begin)
        self.sweeper = Sweeper()
        self._claiming = threading.BoundedSemaphore(CLAIMS)

    def start(self) -> None:
        """Look after the runs from now on, whether this process has any or not."""
        self.watch.start()
        self.reaper.start()
        self.sweeper.start()

    def leave(self) -> None:
        """Claim no more, and have every run let go of; safe in a signal handler."""
        self.watch.leave()

    def close(self) -> None:
        """End all threads once the runs are let go of; the worker is not used again."""
        self.leave()
        self.reaper.close()
        self.sweeper.close()
        self.watch.close()
        self.publisher.close(FLUSH_SECONDS)
        self.providers.close()

    def work(self, run_id: int) -> None:
        """Work on this very run, out of turn; one that is held, ended or gone is left alone."""
        if self.watch.is_leaving:
            return
        run = retrying(lambda: claim(run_id, self.watch.worker))
        if run is not None:
            self._work_on(run)

    def work_next(self, begun: Callable[[], None] | None = None) -> bool:
        """Work on the run that is next, and tell whether there was one; `begun` hears of it first.

        A worker that is leaving takes none.
        """
        run = self._claimed()
        if run is None:
            return False
        if begun is not None:
            begun()
        self._work_on(run)
        return True

    def _claimed(self) -> Run | None:
        """Claim a run without patience: while Postgres is away there is nothing to hold on to."""
        try:
            with self._claiming:
                return None if self.watch.is_leaving else claim_next(self.watch.worker)
        except (OperationalError, InterfaceError) as error:
            logger.warning("No run can be taken: %s", error)
            return None
        finally:
            release_connection()

    def _work_on(self, run: Run) -> None:
        with working_on(run.pk, run.attempt):
            count_attempt(run)
            logger.info("Attempt %d begins", run.attempt)
            Attempt(run, self.publisher, self.providers, self.tools).work(self.watch)
            how = f"{run.status}, {run.reason}" if run.reason else "released"
            logger.info("Attempt %d is over: %s", run.attempt, how)

    def _begin(self) -> None:
        """Begin here what no message told of."""
        if not self.watch.is_leaving and anybody_waits():
            self.pool.start_thread()
