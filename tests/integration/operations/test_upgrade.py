"""What an earlier release has stored is whole after an upgrade, and its runs go on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from project.backup import address_of

FIRST = (Path(__file__).parent / "first_release.sql").read_text(encoding="utf-8")
FINISH = """
import django
django.setup()
from chat.runs import lease, runner
print(*lease.release_expired())
while runner.work_next():
    pass
"""
DOUBLE = """
INSERT INTO chat_conversation (id, owner_id, title, created_at, updated_at)
SELECT 900, owner_id, title, created_at, updated_at FROM chat_conversation ORDER BY id LIMIT 1;
CREATE TEMPORARY TABLE one AS SELECT * FROM chat_run ORDER BY id LIMIT 1;
UPDATE one SET id = 900, conversation_id = 900;
INSERT INTO chat_run SELECT * FROM one;
"""
Parameters = dict[str, Any]


@pytest.fixture
def first(empty: Parameters, python: Callable[..., str]) -> Parameters:
    """Fill a database as the first release left it."""
    python(empty, "manage.py", "migrate", "chat", "0001_initial")
    with psycopg.connect(address_of(empty)) as old:
        old.execute("TRUNCATE chat_policy CASCADE")  # published by the migration, and in the file
        old.execute(FIRST)
    return empty


@pytest.fixture
def upgraded(first: Parameters, python: Callable[..., str]) -> Parameters:
    """Bring a database of the first release up to date."""
    python(first, "manage.py", "migrate")
    return first


def test_all_that_was_stored_before_an_upgrade_verifies_after_it(
    upgraded: Parameters, python: Callable[..., str]
) -> None:
    words = python(upgraded, "manage.py", "runs", "verify", "--all")

    assert words == "Of 10 runs 10 agree, 0 differ, 0 cannot be replayed.\n"


def test_runs_that_an_upgrade_interrupted_go_on_to_their_end(
    upgraded: Parameters, python: Callable[..., str]
) -> None:
    lines = python(upgraded, "manage.py", "runs", "list", "--json").splitlines()
    before = {line["run"]: line["status"] for line in map(json.loads, lines)}

    python(upgraded, "-c", FINISH)

    with psycopg.connect(address_of(upgraded)) as new:
        query = "SELECT id, status, answer FROM chat_run WHERE id = ANY(%s) ORDER BY id"
        after = new.execute(query, [list(before)]).fetchall()
    assert sorted(before.values()) == ["interrupted", "queued", "running"]
    assert [(status, answer) for _, status, answer in after] == [("succeeded", "It is 42.")] * 3
    words = python(upgraded, "manage.py", "runs", "verify", "--all")
    assert words == "Of 13 runs 13 agree, 0 differ, 0 cannot be replayed.\n"


def test_a_first_question_that_an_earlier_release_began_twice_stays_in_both_conversations(
    first: Parameters, python: Callable[..., str]
) -> None:
    with psycopg.connect(address_of(first)) as old:
        old.execute(DOUBLE)

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        query = """SELECT count(*), count(DISTINCT client_message_id) FROM chat_run
            WHERE client_message_id = (SELECT client_message_id FROM chat_run WHERE id = 900)"""
        assert new.execute(query).fetchone() == (2, 1)


def test_a_turn_of_a_kind_that_nobody_knows_is_kept_as_what_it_is(
    first: Parameters, python: Callable[..., str]
) -> None:
    by_hand = "UPDATE chat_turn SET kind = 'user' RETURNING id, answer <> '', tool <> ''"
    with psycopg.connect(address_of(first)) as old:
        turns = old.execute(by_hand).fetchall()

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        kinds: dict[int, str] = dict(new.execute("SELECT id, kind FROM chat_turn").fetchall())
        refused = psycopg.errors.CheckViolation
        with pytest.raises(refused, match="turn_kind_is_known"):
            new.execute(by_hand)
    assert len(kinds) == len(turns) > 0
    for pk, is_answer, is_action in turns:
        expected = "final" if is_answer else "action" if is_action else "thought"
        assert kinds[pk] == expected
