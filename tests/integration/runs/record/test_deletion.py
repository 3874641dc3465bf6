"""A conversation can be deleted while a worker writes into it."""

import threading
from collections.abc import Callable

from django.db import connection, transaction
from django.utils import timezone

from chat.models import Conversation, Run, Turn
from chat.runs.lease import fence, renew
from chat.runs.worker.claim import claim

BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"


def _is_somebody_blocked() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(BLOCKED)
        return bool(cursor.fetchone()[0])


def test_a_conversation_is_deleted_after_the_turn_that_is_being_written(
    asked: Callable[..., Run], wait_for: Callable[..., None]
) -> None:
    run = claim(asked([]).pk, "a worker")
    assert run is not None
    turn = Turn.objects.create(
        run=run, index=0, attempt=1, kind="thought", started_at=timezone.now()
    )
    errors: list[Exception] = []

    def delete() -> None:
        try:
            run.conversation.delete()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    deleting = threading.Thread(target=delete)
    with transaction.atomic():
        fence(run, worker="a worker")
        deleting.start()
        wait_for(_is_somebody_blocked, "the deletion to wait for the run")
        Turn.objects.filter(pk=turn.pk).update(thought="Written meanwhile.")
    deleting.join()
    assert errors == []
    assert not Conversation.objects.exists()


def test_a_heartbeat_and_a_deletion_lock_runs_in_the_same_order(
    asked: Callable[..., Run], wait_for: Callable[..., None]
) -> None:
    runs = [claim(asked([]).pk, "a worker") for _ in range(3)]
    first, *others = [run.pk for run in runs if run is not None]
    _put_behind(first)
    errors: list[Exception] = []

    def renew_all() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
            renew([first, *others], "a worker")
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    renewing = threading.Thread(target=renew_all)
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=first)
        renewing.start()
        wait_for(_is_somebody_blocked, "the heartbeat to wait for the first run")
        locked = Run.objects.select_for_update(nowait=True).filter(pk__in=others)
        assert locked.count() == len(list(locked)) == 2
    renewing.join()
    assert errors == []


def _put_behind(run_id: int) -> None:
    """Have the row of a run lie behind all others, where a scan of the table comes to it last."""
    with connection.cursor() as cursor:
        for number in range(100):
            Run.objects.filter(pk=run_id).update(message=f"Written {number} times.")
            cursor.execute("SELECT id FROM chat_run ORDER BY ctid DESC LIMIT 1")
            if cursor.fetchone() == (run_id,):
                return
    raise AssertionError("The row stays before the others.")
