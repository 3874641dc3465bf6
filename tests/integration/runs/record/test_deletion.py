"""A conversation can be deleted while a worker writes into it."""

import threading
from collections.abc import Callable

from django.db import connection, transaction
from django.utils import timezone

from chat.models import Conversation, Run, Turn
from chat.runs.lease import fence
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
