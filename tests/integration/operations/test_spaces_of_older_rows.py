"""Rows of earlier releases get the space of their run, while these releases are still at work."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from project.ops.backup import address_of
from tests.integration.operations.originals import Originals
from tests.integration.operations.releases import RELEASES, filled

NAMED = "0022_rows_of_a_run_name_their_space"
FILLED = "0023_fill_in_the_spaces_of_rows"
"""The migrations by which rows may name their space, and by which they do."""
TABLES = ("chat_turn", "chat_action", "chat_modelcall", "chat_piece", "chat_approval")
GIVE_SOME_OF_EACH = """
INSERT INTO chat_piece (run_id, digest, text)
SELECT id, gen_random_uuid(), question FROM chat_run;
INSERT INTO chat_approval (run_id, turn_index, tool, inputs, safety, status, feedback, created_at,
    expires_at)
SELECT id, 90, 'bank__pay', '{}', 'sensitive', 'pending', '', now(), now() FROM chat_run;
"""
NEXT_TURN = """
INSERT INTO chat_turn (run_id, index, attempt, status, kind, thought, answer, stream_id)
SELECT run_id, 91, 1, 'complete', 'thought', 'go', '', '1-1' FROM chat_turn ORDER BY id LIMIT 1
RETURNING (SELECT space_id FROM chat_run WHERE id = run_id), space_id
"""
HOLD = "UPDATE chat_turn SET thought = 'held' WHERE id = (SELECT max(id) FROM chat_turn)"
FILL_HALF = "UPDATE chat_turn SET space_id = NULL WHERE id % 2 = 0"
BREAK_OFF = """
ALTER TABLE chat_turn ADD CONSTRAINT chat_turn_has_space CHECK (space_id IS NOT NULL) NOT VALID
"""
OUT_OF_PLACE = """
SELECT count(*) FROM chat_run AS run
LEFT JOIN chat_turn AS turn ON turn.run_id = run.id
LEFT JOIN chat_action AS action ON action.turn_id = turn.id
LEFT JOIN chat_modelcall AS call ON call.run_id = run.id
LEFT JOIN chat_piece AS piece ON piece.run_id = run.id
LEFT JOIN chat_approval AS approval ON approval.run_id = run.id
WHERE (turn.space_id, action.space_id, call.space_id, piece.space_id, approval.space_id)
    IS DISTINCT FROM (
        CASE WHEN turn.id IS NOT NULL THEN run.space_id END,
        CASE WHEN action.id IS NOT NULL THEN run.space_id END,
        CASE WHEN call.id IS NOT NULL THEN run.space_id END,
        CASE WHEN piece.run_id IS NOT NULL THEN run.space_id END,
        CASE WHEN approval.id IS NOT NULL THEN run.space_id END
    )
"""
REQUIRED = """
SELECT count(*) FROM information_schema.columns
WHERE column_name = 'space_id' AND is_nullable = 'NO' AND table_name = ANY(%s)
"""
CHECKS = "SELECT conname FROM pg_constraint WHERE conname LIKE '%_has_space'"
Parameters = dict[str, Any]
Python = Callable[..., str]


@pytest.fixture
def older(originals: Originals, python: Python) -> Iterator[Parameters]:
    """Fill a database as it was before rows named their space."""

    def make(made: Parameters) -> None:
        filled(made, python, RELEASES[1])
        python(made, "manage.py", "migrate", "chat", "0020")
        with psycopg.connect(address_of(made)) as database:
            database.execute(GIVE_SOME_OF_EACH)

    with originals.copy("before rows named their space", make) as copy:
        yield copy


def rows(database: psycopg.Connection[Any]) -> dict[str, list[Any]]:
    """Return all that is stored, but for the space."""
    stored = SQL("SELECT (to_jsonb({0}) - 'space_id')::text FROM {0} ORDER BY 1")
    return {
        table: database.execute(stored.format(Identifier(table))).fetchall() for table in TABLES
    }


def assert_in_place(database: psycopg.Connection[Any]) -> None:
    """See that each row has the space of its run, and that none may be without."""
    assert database.execute(OUT_OF_PLACE).fetchone() == (0,)
    assert database.execute(REQUIRED, [list(TABLES)]).fetchone() == (len(TABLES),)
    assert database.execute(CHECKS).fetchall() == []


def test_every_row_gets_the_space_of_its_run_and_is_else_as_it_was(
    older: Parameters, python: Python
) -> None:
    with psycopg.connect(address_of(older)) as before:
        stored = rows(before)

    python(older, "manage.py", "migrate", "chat", FILLED)

    with psycopg.connect(address_of(older)) as after:
        assert_in_place(after)
        assert rows(after) == stored
    assert all(stored.values())


def test_what_somebody_holds_or_adds_meanwhile_gets_its_space_too(
    older: Parameters, python: Python, wait_for: Callable[..., None]
) -> None:
    python(older, "manage.py", "migrate", "chat", NAMED)
    migrating = threading.Thread(
        target=python, args=(older, "manage.py", "migrate", "chat", FILLED)
    )
    with (
        psycopg.connect(address_of(older)) as holder,
        psycopg.connect(address_of(older), autocommit=True) as other,
    ):
        holder.execute(HOLD)

        migrating.start()

        left = "SELECT count(*) FROM chat_turn WHERE space_id IS NULL"
        wait_for(lambda: other.execute(left).fetchone() == (1,), "all turns but the one held")
        expected, given = other.execute(NEXT_TURN).fetchone() or (0, None)
        assert migrating.is_alive()
        holder.commit()
        migrating.join(60)

        assert given == expected
        assert_in_place(other)
        said = other.execute("SELECT count(*) FROM chat_turn WHERE thought = 'held'").fetchone()
        assert said == (1,)


def test_who_broke_it_off_migrates_again(older: Parameters, python: Python) -> None:
    python(older, "manage.py", "migrate", "chat", FILLED)
    python(older, "manage.py", "migrate", "chat", NAMED)
    with psycopg.connect(address_of(older)) as database:
        database.execute("ALTER TABLE chat_turn DISABLE TRIGGER chat_turn_space")
        database.execute(FILL_HALF)
        database.execute("ALTER TABLE chat_turn ENABLE TRIGGER chat_turn_space")
        database.execute(BREAK_OFF)

    python(older, "manage.py", "migrate", "chat", FILLED)

    with psycopg.connect(address_of(older)) as database:
        assert_in_place(database)
