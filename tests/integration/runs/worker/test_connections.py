"""Runs that wait, and workers that find none, hold no connection to Postgres."""

from collections.abc import Callable
from typing import Any

from django.db import connection

from chat.models import Run, RunStatus
from chat.runs.stop import stop
from tests.integration.here import here

WaitFor = Callable[..., None]


def test_many_runs_wait_for_their_models_without_holding_connections(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    pool = connection.pool  # type: ignore[attr-defined] # of the Postgres backend
    runs = [asked([{"hang": True, "after": "Thought: hm "}]) for _ in range(24)]
    with working(*runs) as workers:
        running = Run.objects.filter(status=RunStatus.RUNNING, provider="scripted")
        wait_for(lambda: running.count() == len(runs), "all runs to stream at once")
        connection.close()
        wait_for(lambda: in_use(pool) <= 1, "the connections to be handed back")
        for run in runs:
            stop(run)
        workers.wait()

    assert pool.max_size < len(runs)
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.STOPPED}


def test_who_looks_for_a_run_in_vain_holds_no_connection(transactional_db: None) -> None:
    assert not here().work_next()
    assert connection.connection is None


def in_use(pool: Any) -> int:
    figures = pool.get_stats()
    return int(figures["pool_size"] - figures["pool_available"])
