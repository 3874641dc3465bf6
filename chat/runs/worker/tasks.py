"""The Celery task, which only wakes the worker, and the worker's first and last moments."""

import atexit
from typing import Any

from celery import bootsteps, shared_task
from celery.signals import worker_shutting_down

from chat.runs.wake import TASK
from chat.runs.worker.worker import Worker
from chat.singleton import once

here = once(Worker)
"""This process's worker."""


@shared_task(name=TASK, ignore_result=True)
def work(run_id: int) -> None:
    """Work on the runs that are next; the one that the message names may not be among them."""
    here().pool.serve()


class Begin(bootsteps.StartStopStep):
    """Look after the runs from the worker's first moment, whether the broker is there or not.

    That is a step and not Celery's signal `celeryd_after_setup`, which comes before the worker can
    be told to stop: SIGTERM would kill it, and with it what it has claimed until the lease ends.
    """

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        here()  # made before a signal can ask for it

    def start(self, worker: Any) -> None:
        """Begin, as soon as the worker minds signals and before it asks for its broker."""
        here().pool.size = worker.concurrency
        here().start()
        atexit.register(here().close)  # after the threads that have runs, which end the step first

    def stop(self, worker: Any) -> None:
        """Leave, as `let_go` mostly did before."""
        here().leave()
        here().watch.wait_for_goodbye()


@worker_shutting_down.connect
def let_go(**_: Any) -> None:
    """Interrupt this worker's runs, so that other workers go on with them at once."""
    here().leave()
