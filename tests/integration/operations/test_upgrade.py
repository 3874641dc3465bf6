"""What an earlier release has stored is whole after an upgrade, and its runs go on."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg

from project.ops.backup import address_of
from tests.integration.operations.releases import FINISH, Release

DOUBLE = """
INSERT INTO chat_conversation (id, owner_id, title, created_at, updated_at)
SELECT 900, owner_id, title, created_at, updated_at FROM chat_conversation ORDER BY id LIMIT 1;
CREATE TEMPORARY TABLE one AS SELECT * FROM chat_run ORDER BY id LIMIT 1;
UPDATE one SET id = 900, conversation_id = 900;
INSERT INTO chat_run SELECT * FROM one;
"""
RUN_DOCUMENTS = """
SELECT run_id, space_id, kind, policy, version, model, status, reason, turns, tokens, at, has_error,
    seconds IS NULL
FROM chat_rundocument ORDER BY run_id
"""
RUNS_IN_WORDS = """
SELECT r.id, r.owner_id, c.kind, p.slug, v.number, r.model,
    CASE WHEN r.status IN ('waiting', 'interrupted') THEN 'running' ELSE r.status END, r.reason,
    CASE WHEN r.ended_at IS NOT NULL
        THEN (SELECT count(*) FROM chat_turn WHERE run_id = r.id) END,
    CASE WHEN r.ended_at IS NOT NULL THEN r.input_tokens + r.output_tokens END, r.created_at,
    r.ended_at IS NOT NULL AND (r.status = 'failed' OR EXISTS (
        SELECT FROM chat_turn JOIN chat_action ON turn_id = chat_turn.id
        WHERE run_id = r.id AND error <> '')),
    r.ended_at IS NULL OR r.started_at IS NULL
FROM chat_run r JOIN chat_conversation c ON c.id = conversation_id
JOIN chat_policyversion v ON v.id = policy_version_id JOIN chat_policy p ON p.id = policy_id
ORDER BY r.id
"""
TURN_DOCUMENTS = """
SELECT turn_id, run_id, has_error, at FROM chat_turndocument ORDER BY turn_id
"""
TURNS_IN_WORDS = """
SELECT chat_turn.id, run_id,
    EXISTS (SELECT FROM chat_action WHERE turn_id = chat_turn.id AND error <> '')
FROM chat_turn WHERE id IN (SELECT turn_id FROM chat_turndocument)
"""
WITHOUT_DOCUMENT = """
SELECT count(*) FROM chat_run LEFT JOIN chat_rundocument ON run_id = id WHERE run_id IS NULL
"""
TURNS_OUT_OF_PLACE = """
SELECT count(*) FROM chat_turn LEFT JOIN chat_turndocument AS document ON turn_id = chat_turn.id
LEFT JOIN chat_run ON chat_run.id = document.run_id AND document.at = chat_run.created_at
WHERE chat_run.id IS NULL
"""
OWN_VERSION = """
INSERT INTO chat_policyversion (number, content, digest, created_at, policy_id)
SELECT 2, v.content || '{"tools": ["calculator"]}', 'own', now(), v.policy_id
FROM chat_policyversion v JOIN chat_policy p ON p.id = v.policy_id WHERE p.slug = 'explicit';
"""
TRY = """
WITH tried AS (
  SELECT id, conversation_id FROM chat_run WHERE status = 'queued' ORDER BY id DESC LIMIT 1
), alone AS (
  INSERT INTO chat_conversation (owner_id, kind, title, created_at, updated_at)
  SELECT owner_id, 'trial', 'Tried', now(), now() FROM chat_conversation
  WHERE id = (SELECT conversation_id FROM tried) RETURNING id
)
UPDATE chat_run SET conversation_id = (SELECT id FROM alone), parent_id = NULL
WHERE id = (SELECT id FROM tried) RETURNING id
"""
PEOPLE = "SELECT id, 'person', id, username, '~' || username FROM chat_user ORDER BY id"
SPACES_OF_PEOPLE = "SELECT id, kind, person_id, name, slug FROM chat_space ORDER BY id"
OF_BATCH = "SELECT running, next_run FROM chat_queue WHERE lane = 'batch'"
RECOUNT = """
import django
django.setup()
from chat.runs.worker.queue_repair import repair_queues
print(repair_queues())
"""
Parameters = dict[str, Any]
Python = Callable[..., str]


def test_all_that_was_stored_before_an_upgrade_verifies_after_it(
    upgraded: Parameters, python: Python, release: Release
) -> None:
    words = python(upgraded, "manage.py", "runs", "verify", "--all")

    count = release.ended
    assert words == f"Of {count} runs {count} agree, 0 differ, 0 cannot be replayed.\n"


def test_runs_that_an_upgrade_interrupted_go_on_to_their_end(
    upgraded: Parameters, python: Python, release: Release
) -> None:
    lines = python(upgraded, "manage.py", "runs", "list", "--json").splitlines()
    before = {line["run"]: line["status"] for line in map(json.loads, lines)}

    python(upgraded, "-c", FINISH)

    with psycopg.connect(address_of(upgraded)) as new:
        query = "SELECT id, status, answer FROM chat_run WHERE id = ANY(%s)"
        after = new.execute(query, [list(before)]).fetchall()
    assert tuple(sorted(before.values())) == release.live
    # Who waits for a person still does.
    expected = {
        (run, "waiting", "") if status == "waiting" else (run, "succeeded", "It is 42.")
        for run, status in before.items()
    }
    assert set(after) == expected
    words = python(upgraded, "manage.py", "runs", "verify", "--all")
    ended = release.ended + len([status for _, status, _ in after if status == "succeeded"])
    assert words == f"Of {ended} runs {ended} agree, 0 differ, 0 cannot be replayed.\n"


def test_every_run_and_turn_of_before_is_found_after_an_upgrade(
    upgraded: Parameters, python: Python
) -> None:
    with psycopg.connect(address_of(upgraded)) as new:
        [runs, turns] = _documents(new)
        assert runs == new.execute(RUNS_IN_WORDS).fetchall()
        assert {row[:3] for row in turns} == set(new.execute(TURNS_IN_WORDS).fetchall())
        assert new.execute(WITHOUT_DOCUMENT).fetchone() == (0,)
        assert {at for *_, at in turns} == {datetime(1970, 1, 1, tzinfo=UTC)}

    assert python(upgraded, "manage.py", "index_turns").endswith(" turns can be found.\n")

    with psycopg.connect(address_of(upgraded)) as new:
        assert _documents(new)[0] == runs
        assert new.execute(TURNS_OUT_OF_PLACE).fetchone() == (0,)


def test_the_index_over_the_words_of_turns_is_not_built_anew(
    first: Parameters, python: Python
) -> None:
    node = "SELECT pg_relation_filenode(%s), pg_relation_filenode(%s)"
    with psycopg.connect(address_of(first)) as old:
        before = old.execute(node, ["search_owner_words", "chat_searchdocument"]).fetchone()
        words = old.execute(
            "SELECT turn_id, words::text, owner_id FROM chat_searchdocument ORDER BY 1"
        ).fetchall()

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        after = new.execute(node, ["turn_space_words", "chat_turndocument"]).fetchone()
        assert after == before
        kept = new.execute(
            "SELECT turn_id, words::text, space_id FROM chat_turndocument ORDER BY 1"
        ).fetchall()
    assert kept == words != []


def test_a_first_question_that_an_earlier_release_began_twice_stays_in_both_conversations(
    first: Parameters, python: Python
) -> None:
    with psycopg.connect(address_of(first)) as old:
        old.execute(DOUBLE)

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        query = """SELECT count(*), count(DISTINCT client_message_id) FROM chat_run
            WHERE client_message_id = (SELECT client_message_id FROM chat_run WHERE id = 900)"""
        assert new.execute(query).fetchone() == (2, 1)


def test_an_upgrade_tells_what_a_release_published_from_what_people_did(
    first: Parameters, python: Python
) -> None:
    with psycopg.connect(address_of(first)) as old:
        old.execute(OWN_VERSION)

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        query = """SELECT slug, number, is_of_release FROM chat_policyversion v
            JOIN chat_policy p ON p.id = v.policy_id WHERE slug IN ('explicit', 'short')
            ORDER BY slug, number"""
        found = new.execute(query).fetchall()
    assert found[:2] == [("explicit", 1, True), ("explicit", 2, False)]
    assert not any(is_of_release for slug, _, is_of_release in found if slug != "explicit")
    assert len([slug for slug, _, _ in found if slug == "explicit"]) == 2


def test_everybody_has_their_space_after_an_upgrade_and_all_that_waited_its_place(
    first: Parameters, python: Python
) -> None:
    python(first, "manage.py", "migrate", "chat", "0018")
    with psycopg.connect(address_of(first)) as old:
        moved = old.execute(TRY).fetchone()
        places = old.execute("SELECT owner_id, since FROM chat_queue ORDER BY 1").fetchall()

    python(first, "manage.py", "migrate")

    with psycopg.connect(address_of(first)) as new:
        assert new.execute(SPACES_OF_PEOPLE).fetchall() == new.execute(PEOPLE).fetchall()
        assert (
            new.execute("SELECT count(*) FROM chat_conversation").fetchone()
            == new.execute(
                "SELECT count(*) FROM chat_conversation WHERE space_id = owner_id"
            ).fetchone()
        )
        assert (
            new.execute("SELECT count(*) FROM chat_run").fetchone()
            == new.execute("SELECT count(*) FROM chat_run WHERE space_id = owner_id").fetchone()
        )
        assert new.execute("SELECT id FROM chat_run WHERE lane = 'batch'").fetchone() == moved
        chats = "SELECT space_id, since FROM chat_queue WHERE lane = 'chat' ORDER BY 1"
        assert new.execute(chats).fetchall() == places
        assert new.execute(OF_BATCH).fetchone() == (0, *(moved or ()))
    assert "[]" in python(first, "-c", RECOUNT)


def _documents(database: psycopg.Connection[Any]) -> list[list[Any]]:
    """Return the rows of runs and of turns, without their words."""
    return [database.execute(query).fetchall() for query in (RUN_DOCUMENTS, TURN_DOCUMENTS)]
