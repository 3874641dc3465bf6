"""A worker has what it needs from its start to its end, and shares none of it with another one."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from chat.models import Run, RunStatus
from chat.models import Worker as SignOfLife
from chat.runs.worker.worker import Worker
from chat.stream.streams import run_key

pytestmark = pytest.mark.services


def test_a_worker_that_closes_has_told_all_of_its_runs(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    worker = Worker()
    worker.work(run.pk)

    worker.close()

    newest: Any = valkey.xrevrange(run_key(run.pk), count=1)
    assert b"end" in newest[0][1]


def test_a_worker_that_closes_leaves_no_thread_behind(
    asked: Callable[..., Run], wait_for: Callable[..., None]
) -> None:
    before = set(threading.enumerate())
    worker = Worker()
    worker.start()
    worker.work(asked([{"say": "Final Answer: 4"}]).pk)

    worker.close()

    wait_for(lambda: not set(threading.enumerate()) - before, "its threads to end")


def test_nobody_counts_on_a_worker_that_has_closed(
    transactional_db: None, wait_for: Callable[..., None]
) -> None:
    worker = Worker()
    worker.start()
    mine = SignOfLife.objects.filter(name=worker.watch.worker)
    wait_for(mine.exists, "its sign of life")

    worker.close()

    assert not mine.exists()


def test_a_worker_that_has_closed_takes_no_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    worker = Worker()
    worker.close()

    worker.work(run.pk)

    assert not worker.work_next()
    run.refresh_from_db()
    assert run.status == RunStatus.QUEUED


def test_one_worker_leaves_and_another_of_the_same_process_goes_on(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    first, second = Worker(), Worker()
    first.leave()

    first.work(run.pk)
    second.work(run.pk)
    second.close()

    run.refresh_from_db()
    assert (run.status, run.worker) == (RunStatus.SUCCEEDED, second.watch.worker)


def test_the_setup_of_the_tools_is_read_once_and_when_it_is_needed(settings: Any) -> None:
    worker = Worker()
    settings.TOOL_ENVIRONMENT = {"TURNSTONE_SEARXNG_URL": "http://127.0.0.1:8888"}

    setup = worker.tools()

    assert setup.searxng_url == "http://127.0.0.1:8888"
    assert worker.tools() is setup
