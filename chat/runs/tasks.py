"""The Celery task, which only wakes the runner, and the worker's first and last moments."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from chat.runs import runner
from chat.runs.wake import TASK
from chat.runs.watch import watch


@shared_task(name=TASK, ignore_result=True)
def work(run_id: int) -> None:
    """Work on a run, if it still waits."""
    runner.work(run_id)


@worker_ready.connect
def begin_to_watch(**_: Any) -> None:
    """Look after orphaned and forgotten runs from the first moment."""
    watch().start()


@worker_shutting_down.connect
def let_go(**_: Any) -> None:
    """Interrupt this worker's runs, so that other workers go on with them at once."""
    watch().leave()
