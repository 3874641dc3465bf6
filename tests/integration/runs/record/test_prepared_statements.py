"""What is stored at each step of a run is planned once for a connection, where that may be."""

from collections.abc import Callable
from typing import Any

from django.db import connection, transaction

from chat.models import Run
from chat.prepared import prepared_cursor
from chat.runs.record.statements import store
from project.database.base import DatabaseWrapper

PLANNED = "SELECT statement, generic_plans + custom_plans FROM pg_prepared_statements"


STEP = 'WITH held AS (UPDATE chat_run SET "stream_id"'


def planned() -> dict[str, int]:
    """Return how often this connection has used each statement that it keeps planned."""
    with connection.cursor() as cursor:
        cursor.execute(PLANNED)
        return dict(cursor.fetchall())


def uses(beginning: str) -> list[int]:
    return [count for sql, count in planned().items() if sql.startswith(beginning)]


def test_a_step_of_a_run_is_planned_once_for_a_connection(claimed: Callable[[], Run]) -> None:
    run = claimed()
    with transaction.atomic():  # so that it is the same connection each time
        before = uses(STEP)
        for number in range(3):
            store(run, stream_id=f"1-{number}")
        after = uses(STEP)

        assert sum(after) - sum(before) == 3
        assert len(after) - len(before) <= 1


def test_a_step_is_stored_on_a_connection_that_has_taken_one_back(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    with transaction.atomic():
        store(run, stream_id="1-7")
        transaction.set_rollback(True)

    store(run, stream_id="1-8")

    run.refresh_from_db()
    assert run.stream_id == "1-8"


def test_nothing_is_kept_planned_where_a_pooler_shares_connections(db: None) -> None:
    options = {**connection.settings_dict["OPTIONS"], "pool": False}
    shared: dict[str, Any] = {"OPTIONS": options, "DISABLE_SERVER_SIDE_CURSORS": True}
    pooled = DatabaseWrapper({**connection.settings_dict, **shared})
    try:
        for number in range(3):
            with pooled.prepared_cursor() as cursor:
                cursor.execute("SELECT %s::integer + 1", [number])
                assert cursor.fetchone() == (number + 1,)
        with pooled.cursor() as cursor:
            cursor.execute(PLANNED)
            assert cursor.fetchall() == []
    finally:
        pooled.close()


def test_a_statement_with_other_values_is_the_same_one(transactional_db: None) -> None:
    with transaction.atomic():
        for number in range(5):
            with prepared_cursor() as cursor:
                cursor.execute("SELECT %s::integer + 2", [number])
                assert cursor.fetchone() == (number + 2,)

        assert uses("SELECT $1::integer + 2") == [5]
