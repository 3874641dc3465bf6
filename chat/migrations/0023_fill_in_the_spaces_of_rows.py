"""The turns, actions, model calls, pieces and approvals that are stored get the space of their run.

Two thousand rows are written at a time, each time in a transaction of its own, which waits for
nobody and passes over what somebody holds until the next round. So web processes and workers of the
release before may go on meanwhile, and who breaks it off migrates again. Each row is written once
anew, so the tables need their room twice until Postgres has used again what became free.

200,000 turns, with as many calls, 180,000 actions and 400,000 pieces, took 49 s on two cores with a
load of 11; so a million take some four minutes there. Of 3,735 writes beside it the longest waited
for 0.04 s.
"""

import time
from typing import Any

from django.db import migrations, models

ROWS = 2_000
"""How many are written by one statement, and those of one run or turn beyond them."""

PAUSE = 0.2
"""Seconds until the next round, where somebody held a row in the last."""

# Turns come before their actions.
TABLES = {
    "chat_turn": ("run_id", "chat_run"),
    "chat_modelcall": ("run_id", "chat_run"),
    "chat_piece": ("run_id", "chat_run"),
    "chat_approval": ("run_id", "chat_run"),
    "chat_action": ("turn_id", "chat_turn"),
}
"""The column by which the rows of each table find their space, and the table that it names."""

BORDER = "SELECT {key} FROM {table} WHERE {key} > %s ORDER BY {key} OFFSET %s LIMIT 1"
FILL = """
WITH batch AS (
  SELECT ctid AS place, {key} AS key FROM {table}
  WHERE {key} > %s AND {key} <= %s AND space_id IS NULL FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE {table} AS filled SET space_id = parent.space_id
FROM batch JOIN {parent} AS parent ON parent.id = batch.key WHERE filled.ctid = batch.place
"""
LAST = 2**63 - 1
ARE_FILLED = "SELECT NOT EXISTS (SELECT FROM {table} WHERE space_id IS NULL)"

# Reading all rows for it would keep everybody from the table; a check is validated beside them.
REQUIRE = (
    "ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_has_space",
    "ALTER TABLE {table} ADD CONSTRAINT {table}_has_space CHECK (space_id IS NOT NULL) NOT VALID",
    "ALTER TABLE {table} VALIDATE CONSTRAINT {table}_has_space",
    "ALTER TABLE {table} ALTER COLUMN space_id SET NOT NULL",
    "ALTER TABLE {table} DROP CONSTRAINT {table}_has_space",
)


def fill(apps: Any, schema_editor: Any) -> None:
    """Give each row of each table its space, then require it."""
    with schema_editor.connection.cursor() as cursor:
        for table, (key, parent) in TABLES.items():
            names = {"table": table, "key": key, "parent": parent}
            _fill_once(cursor, BORDER.format(**names), FILL.format(**names))
            while not _are_filled(cursor, table):
                time.sleep(PAUSE)
                _fill_once(cursor, BORDER.format(**names), FILL.format(**names))
            for statement in REQUIRE:
                cursor.execute(statement.format(table=table))


def allow_none(apps: Any, schema_editor: Any) -> None:
    """Let rows be without a space again; those that have one keep it."""
    for table in TABLES:
        schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN space_id DROP NOT NULL")


def _are_filled(cursor: Any, table: str) -> bool:
    cursor.execute(ARE_FILLED.format(table=table))
    (are_filled,) = cursor.fetchone()
    return bool(are_filled)


def _fill_once(cursor: Any, border: str, fill: str) -> None:
    low = 0
    while low < LAST:
        cursor.execute(border, [low, ROWS])
        (high,) = cursor.fetchone() or (LAST,)
        cursor.execute(fill, [low, high])
        low = high


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("chat", "0022_rows_of_a_run_name_their_space")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(fill, allow_none)],
            state_operations=[
                migrations.AlterField(model, "space_id", models.BigIntegerField(editable=False))
                for model in ("turn", "modelcall", "piece", "approval", "action")
            ],
        ),
    ]
