"""A line that is wrong is put right, and one that is right is left alone."""

from collections.abc import Callable

import pytest
from django.db import connection

from chat.models import Queue, Run, RunStatus, User
from chat.runs.worker.claim import claim_next
from chat.runs.worker.queue_repair import repair_queues
from tests.integration.here import here


@pytest.fixture
def waiting(asked: Callable[..., Run]) -> Run:
    return asked([{"say": "Final Answer: 4"}])


def test_a_line_that_keeps_somebody_from_all_workers_is_put_right(waiting: Run, ada: User) -> None:
    Queue.objects.update(running=99, next_run=None, since=None)
    assert claim_next("a worker") is None
    assert (repair_queues(), repair_queues()) == ([(ada.pk, "chat")], [])
    run = claim_next("a worker")
    assert run is not None
    assert run.pk == waiting.pk


def test_a_line_that_is_missing_is_made(waiting: Run, ada: User) -> None:
    Queue.objects.all().delete()
    assert repair_queues() == [(ada.pk, "chat")]
    line = Queue.objects.get(space=ada.pk)
    assert (line.running, line.next_run) == (0, waiting.pk)


def test_a_line_of_runs_that_are_gone_is_emptied(waiting: Run, ada: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE chat_run SET status = 'failed', ended_at = now()")
        cursor.execute("SET session_replication_role = origin")
    assert Queue.objects.get(space=ada.pk).next_run == waiting.pk
    assert repair_queues() == [(ada.pk, "chat")]
    assert Queue.objects.get(space=ada.pk).next_run is None


def test_a_worker_puts_wrong_lines_right_when_it_begins(
    waiting: Run, wait_for: Callable[..., None]
) -> None:
    Queue.objects.all().delete()
    here().reaper.look()
    answered = Run.objects.filter(pk=waiting.pk, status=RunStatus.SUCCEEDED)
    wait_for(answered.exists, "the answer")
