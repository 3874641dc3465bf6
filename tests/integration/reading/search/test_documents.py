"""What is written for search, and when: a row a turn, and a row a run."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.models import (
    Conversation,
    ConversationKind,
    Policy,
    Run,
    RunDocument,
    RunStatus,
    TurnDocument,
    User,
)
from chat.runs.ask import ask
from chat.runs.stop import stop
from chat.search.documents.runs import index_run_ended
from chat.search.find import find
from chat.search.language.query import parse
from chat.search.recall import find_turns

TellRun = Callable[..., Run]


def versions_of_rows(run: Run) -> list[Any]:
    """Return which transaction and place each row of the run's turns was written by and to."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT turn_id, xmin::text, ctid::text FROM chat_turndocument WHERE run_id = %s"
            " ORDER BY turn_id",
            [run.pk],
        )
        return list(cursor.fetchall())


def found_by_run(text: str, weights: str = "abcd") -> list[int]:
    """Return the runs whose own words fit."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id FROM chat_rundocument"
            " WHERE ts_filter(words, %s::\"char\"[]) @@ plainto_tsquery('simple', %s)"
            " ORDER BY run_id",
            [list(weights), text],
        )
        return [pk for (pk,) in cursor.fetchall()]


@pytest.mark.parametrize("status", ["succeeded", "exhausted", "stopped", "failed"])
def test_the_end_of_a_run_writes_no_row_of_its_turns(ada: User, tell: TellRun, status: str) -> None:
    turns = [{"thought": "hm", "tool": "calculator", "inputs": {}}] * 4
    last = {"thought": "so", "answer": "Four.", "kind": "final"}
    run = tell(ada, *turns, last, status="running")
    before = versions_of_rows(run)
    end(run, status, answer="Four.")

    index_run_ended(run)

    assert versions_of_rows(run) == before
    assert RunDocument.objects.get(run=run).status == status
    assert len(find(ada, parse(f"status:{run.status}")).turn_ids) == 5


def test_words_that_only_the_run_says_write_its_last_turn_alone(ada: User, tell: TellRun) -> None:
    run = tell(ada, *[{"thought": "hm"}] * 4, status="running")
    before = versions_of_rows(run)
    end(run, "exhausted", message="Out of turns.")

    index_run_ended(run)

    after = versions_of_rows(run)
    assert after[:-1] == before[:-1]
    assert after[-1] != before[-1]
    last = run.turns.latest("index")
    assert find(ada, parse('"out of turns"')).turn_ids == [last.pk]


def test_a_run_has_its_row_when_it_is_asked(ada: User) -> None:
    run = asked(ada, "What is the tide?")

    row = RunDocument.objects.get(run=run)
    assert (row.space_id, row.kind, row.status, row.model) == (ada.pk, "chat", "queued", "")
    assert (row.policy, row.version, row.at) == ("explicit", 1, run.created_at)
    assert (row.turns, row.tokens, row.seconds, row.has_error) == (None, None, None, False)
    assert found_by_run("tide", "a") == found_by_run("tide", "d") == [run.pk]
    assert found_by_run("tide", "bc") == []


def test_a_question_that_is_not_stored_leaves_no_row(ada: User) -> None:
    run = asked(ada, "What is the tide?")
    again = ask(
        run.conversation,
        run.question,
        policy_version=run.policy_version,
        client_message_id=run.client_message_id,
    )

    assert again == run
    assert RunDocument.objects.count() == 1


def test_a_run_that_is_stopped_before_it_began_has_its_end_in_its_row(ada: User) -> None:
    run = asked(ada, "What is the tide?")

    stop(run)

    row = RunDocument.objects.get(run=run)
    assert (row.status, row.reason, row.turns, row.seconds) == ("stopped", "stopped", 0, None)
    assert found_by_run("stopped", "c") == [run.pk]


def test_the_row_of_an_ended_run_says_what_it_came_to(ada: User, tell: TellRun) -> None:
    failed = {"tool": "calculator", "inputs": {}, "error": "ToolFailed"}
    run = tell(
        ada,
        *(failed, {"thought": "so"}),
        answer="High.",
        model="demo",
        reason="answered",
        input_tokens=40,
        output_tokens=2,
        told_at=datetime(2019, 5, 1, tzinfo=UTC),
    )

    row = RunDocument.objects.get(run=run)
    assert (row.status, row.reason, row.model) == ("succeeded", "answered", "demo")
    assert (row.turns, row.tokens, row.seconds, row.has_error) == (2, 42, 3.0, True)
    assert row.at == run.told_at
    assert found_by_run("high", "b") == [run.pk]


def test_a_run_that_failed_has_an_error_though_no_action_of_it_did(
    ada: User, tell: TellRun
) -> None:
    assert RunDocument.objects.get(run=tell(ada, {}, status="failed")).has_error
    assert not RunDocument.objects.get(run=tell(ada, {}, status="exhausted")).has_error


def test_a_new_title_is_found_instead_of_the_old_one(
    ada: User, tell: TellRun, browse: Callable[[User], Client]
) -> None:
    first = tell(ada, {}, question="Which tide?", answer="The ebb.", message="Done at noon.")
    thread = first.conversation
    second = tell(ada, {}, question="And now?", conversation=thread)
    other = tell(ada, {}, question="Which tide?")

    browse(ada).post(f"/conversations/{thread.pk}/rename/", {"title": "Moons & walks"})

    assert found_by_run("moons") == found_by_run("moons", "d") == [first.pk, second.pk]
    assert found_by_run("tide", "d") == [other.pk]
    assert found_by_run("tide", "a") == [first.pk, other.pk]
    assert found_by_run("ebb", "b") == found_by_run("noon", "c") == [first.pk]


def test_a_run_that_ends_keeps_the_title_that_it_was_given_meanwhile(
    ada: User, tell: TellRun
) -> None:
    run = tell(ada, {"answer": "Ebb.", "kind": "final"}, question="Tide?", status="running")
    held = Run.objects.select_related("conversation").get(pk=run.pk)
    Conversation.objects.update(title="Moons")
    end(held, "succeeded", answer="Ebb.")

    index_run_ended(held)

    assert found_by_run("moons", "d") == [run.pk]


def test_turns_come_by_when_their_runs_were_and_not_by_when_they_were_stored(
    ada: User, rita: User, tell: TellRun
) -> None:
    now = tell(ada, {"thought": "common"}, {"thought": "common"})
    then = tell(ada, {"thought": "common"}, told_at=timezone.now() - timedelta(days=900))
    between = tell(ada, {"thought": "common"}, told_at=timezone.now() - timedelta(days=9))
    expected = [run.pk for run in (now, now, between, then)]

    for user in (ada, rita):
        for text in ("", "common", "-absent", "policy:explicit", "common policy:explicit"):
            pages = [find(user, parse(text), length=1)]
            while pages[-1].older is not None:
                pages.append(find(user, parse(text), length=1, before=pages[-1].older))
            turns = [pk for page in pages for pk in page.turn_ids]
            assert [TurnDocument.objects.get(pk=pk).run_document_id for pk in turns] == expected
            back = find(user, parse(text), length=2, after=pages[-1].newer)
            assert back.turn_ids == turns[1:3]


def test_the_agent_of_a_person_does_not_remember_what_was_brought_in(
    ada: User, tell: TellRun
) -> None:
    imported = Conversation.objects.create(owner=ada, kind=ConversationKind.IMPORT)
    mine = tell(ada, {"thought": "a walrus"})
    brought = tell(ada, {"thought": "a walrus"}, conversation=imported)

    assert [turn.run for turn in find_turns(ada)("walrus")] == [mine.pk]
    assert len(find(ada, parse("walrus")).turn_ids) == 2
    assert TurnDocument.objects.get(run_document=brought.pk).kind == "import"


def test_a_deleted_conversation_leaves_no_row(ada: User, tell: TellRun) -> None:
    run = tell(ada, {}, {})

    run.conversation.delete()

    assert not TurnDocument.objects.exists()
    assert not RunDocument.objects.exists()


def asked(owner: User, question: str) -> Run:
    """Ask a question in a conversation of its own."""
    return ask(
        Conversation.objects.create(owner=owner),
        question,
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
    )


def end(run: Run, status: str, **fields: Any) -> None:
    """Store that a run has ended, as it does in the transaction that tells search."""
    run.status, run.lease_until, run.ended_at = RunStatus(status), None, timezone.now()
    for name, value in fields.items():
        setattr(run, name, value)
    run.save()
