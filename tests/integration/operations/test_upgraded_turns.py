"""Turns, actions and requests of an earlier release are what they were after an upgrade."""

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from project.ops.backup import address_of
from tests.integration.operations.releases import FINISH

TURNS = "SELECT row_to_json(chat_turn) FROM chat_turn ORDER BY id"
ACTIONS = "SELECT row_to_json(chat_action) FROM chat_action ORDER BY turn_id, position"
SELDOM = """
UPDATE chat_turn SET observation_ends = 'asked', observation_images = '[{"data": "AAAA"}]',
    inputs = '{"b": 1, "a": 2}' WHERE id = (SELECT min(id) FROM chat_turn WHERE tool <> '');
UPDATE chat_turn SET observation = '', observation_error = 'Interrupted', status = 'interrupted'
    WHERE id = (SELECT max(id) FROM chat_turn WHERE observation <> '');
INSERT INTO chat_turn (run_id, index, attempt, status, kind, thought, answer, tool, inputs,
    observation_error, observation_ends, stream_id, started_at, acted_at)
SELECT run_id, 90, 1, 'open', 'action', 'go', '', 'bank__pay', '{}', '', '', '1-1', now(), now()
FROM chat_turn ORDER BY id LIMIT 1;
"""
REQUESTS = "SELECT run_id, index, base_id, shared, rest, digest FROM chat_modelcall"
MIXED = """
SELECT count(*) FROM (
    SELECT FROM chat_modelcall GROUP BY run_id
    HAVING bool_or(pieces IS NULL) AND bool_or(pieces IS NOT NULL)
) AS runs
"""
Parameters = dict[str, Any]
Python = Callable[..., str]


def test_what_was_done_in_a_turn_before_an_upgrade_is_an_action_of_it_after(
    stored: Parameters, upgraded: Parameters
) -> None:
    with psycopg.connect(address_of(stored)) as old:
        before = [_done(*row) for row in old.execute(TURNS)]

    after = _actions(upgraded)

    expected = [action for action in before if action is not None]
    assert after == expected
    assert 0 < len(expected) < len(before)


def test_what_seldom_came_of_an_action_is_kept_in_its_row_as_well(
    first: Parameters, python: Python
) -> None:
    python(first, "manage.py", "migrate", "chat", "0015")
    with psycopg.connect(address_of(first)) as old:
        old.execute(SELDOM)
        before = [_done(*row) for row in old.execute(TURNS)]

    python(first, "manage.py", "migrate")

    after = _actions(first)
    assert after == [action for action in before if action is not None]
    assert {action["ends"] for action in after} == {"", "asked"}
    assert [action["images"] for action in after if action["images"]] == [[{"data": "AAAA"}]]
    assert "Interrupted" in {action["error"] for action in after}
    assert (after[-1]["tool"], after[-1]["observation"]) == ("bank__pay", None)
    assert (after[-1]["started_at"] is not None, after[-1]["ended_at"]) == (True, None)


def test_requests_stay_as_they_are_and_a_run_that_goes_on_adds_its_own_as_pieces(
    stored: Parameters, upgraded: Parameters, python: Python
) -> None:
    with psycopg.connect(address_of(stored)) as old:
        before = old.execute(REQUESTS).fetchall()

    python(upgraded, "-c", FINISH)

    with psycopg.connect(address_of(upgraded)) as new:
        kept = new.execute(f"{REQUESTS} WHERE pieces IS NULL").fetchall()
        mixed = new.execute(MIXED).fetchone()
    assert len(before) > 0
    assert sorted(kept) == sorted(before)
    assert mixed is not None
    assert mixed[0] > 0


def test_a_turn_of_a_kind_that_nobody_knows_is_kept_as_what_it_is(
    first: Parameters, python: Python
) -> None:
    by_hand = "UPDATE chat_turn SET kind = 'user' RETURNING id, answer <> '', tool <> ''"
    with psycopg.connect(address_of(first)) as old:
        turns = old.execute(by_hand).fetchall()

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        kinds: dict[int, str] = dict(new.execute("SELECT id, kind FROM chat_turn").fetchall())
        refused = psycopg.errors.CheckViolation
        with pytest.raises(refused, match="turn_kind_is_known"):
            new.execute("UPDATE chat_turn SET kind = 'user'")
    assert len(kinds) == len(turns) > 0
    for pk, is_answer, is_action in turns:
        expected = "final" if is_answer else "action" if is_action else "thought"
        assert kinds[pk] == expected


def _done(turn: dict[str, Any]) -> dict[str, Any] | None:
    """Return the action that a stored turn of an earlier release comes to; None if it did none."""
    if not turn["tool"] and turn["observation"] is None:
        return None
    return {
        "turn_id": turn["id"],
        "position": 0,
        "tool": turn["tool"],
        "inputs": json.dumps(turn["inputs"]),
        "observation": turn["observation"],
        "whole": "",
        "whole_length": None,
        "error": turn["observation_error"],
        "ends": turn["observation_ends"],
        "images": turn.get("observation_images"),  # which the first day had no column for
        "started_at": turn["acted_at"],
        "ended_at": None if turn["observation"] is None else turn["ended_at"],
    }


def _actions(parameters: Parameters) -> list[dict[str, Any]]:
    """Return what stands in the rows of actions, without their own numbers and their space."""
    with psycopg.connect(address_of(parameters)) as database:
        rows: list[dict[str, Any]] = [row for (row,) in database.execute(ACTIONS)]
    return [
        {name: value for name, value in row.items() if name not in ("id", "space_id")}
        | {"inputs": json.dumps(row["inputs"])}
        for row in rows
    ]
