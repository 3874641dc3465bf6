"""A database of the first hour becomes like a new one, or is refused in words."""

from collections.abc import Callable
from typing import Any

import psycopg

from project.ops.backup import address_of

FORGET_THE_FIRST_DAY = """
ALTER TABLE chat_turn
    DROP COLUMN plan, DROP COLUMN observation_ends, DROP COLUMN observation_images;
ALTER TABLE chat_run DROP COLUMN woken_at;
DROP INDEX search_owner_newest, search_tool_newest;
"""
COLUMNS = """
SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, column_name
"""
INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
Parameters = dict[str, Any]
Python = Callable[..., str]


def test_a_database_of_the_first_hour_becomes_like_a_new_one(
    empty: Parameters, beside: Parameters, python: Python
) -> None:
    python(empty, "manage.py", "migrate", "chat", "0001")
    with psycopg.connect(address_of(empty)) as old:
        old.execute(FORGET_THE_FIRST_DAY)

    python(empty, "manage.py", "migrate")

    python(beside, "manage.py", "migrate")
    assert _shape(empty) == _shape(beside)


def test_a_database_that_lacks_what_nobody_can_make_up_is_refused_in_words(
    empty: Parameters, python: Python
) -> None:
    python(empty, "manage.py", "migrate")
    with psycopg.connect(address_of(empty)) as broken:
        broken.execute("ALTER TABLE chat_turn DROP COLUMN thought, DROP COLUMN plan")
    before = _shape(empty)

    migrating = python(empty, "manage.py", "migrate", code=1)
    starting = python(empty, "-m", "project.local.prepare", code=1)

    for words in (migrating.splitlines()[-1], starting.splitlines()[-1]):
        assert "The database lacks chat_turn.thought, which its migrations had made" in words
    assert "Traceback" not in migrating + starting
    assert _shape(empty) == before


def _shape(parameters: Parameters) -> list[Any]:
    with psycopg.connect(address_of(parameters)) as database:
        return [database.execute(query).fetchall() for query in (COLUMNS, INDEXES)]
