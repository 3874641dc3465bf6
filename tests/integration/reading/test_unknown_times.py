"""What was brought in from elsewhere may not say when it was: nothing is made up for it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from chat.models import Conversation, ConversationKind, ModelCall, Run, User
from chat.request import digest_of
from tests.integration.reading.answers import text_of

Browse = Callable[[User], Client]
TOLD = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


@pytest.fixture
def run(ada: User, tell: Callable[..., Run]) -> Run:
    """Store a run whose source gives one date for all of it, and no other time."""
    unknown = {"started_at": None, "ended_at": None, "status": "complete"}
    home = Conversation.objects.create(owner=ada, title="From afar", kind=ConversationKind.IMPORT)
    turns: list[dict[str, Any]] = [{"thought": "glaciers"} | unknown, {"thought": "melt"} | unknown]
    run = tell(ada, *turns, conversation=home, told_at=TOLD)
    request = json.dumps({"messages": []})
    ModelCall.objects.create(
        run=run,
        index=0,
        turn_index=0,
        attempt=1,
        purpose="think",
        provider="elsewhere",
        model="m",
        rest=request,
        digest=digest_of(request),
    )
    return run


def test_its_transcript_is_read_and_says_no_time(run: Run, ada: User, browse: Browse) -> None:
    page = browse(ada).get(f"/runs/{run.pk}/").content.decode()

    assert "glaciers" in page
    assert "< 0.1 s" not in page
    assert "0.0 s" not in page


def test_a_call_that_took_an_unknown_time_is_opened(run: Run, ada: User, browse: Browse) -> None:
    page = browse(ada).get(f"/runs/{run.pk}/calls/1/")

    assert page.status_code == 200
    assert "<dt>Time</dt>" in page.content.decode()


def test_its_file_says_null_for_what_is_not_known(run: Run, ada: User, browse: Browse) -> None:
    answer = browse(ada).get(f"/runs/{run.pk}/transcript.json")
    told = json.loads(text_of(answer))

    assert datetime.fromisoformat(told["told_at"]) == TOLD
    assert {turn["started_at"] for turn in told["turns"]} == {None}
    assert {turn["seconds"] for turn in told["turns"]} == {None}
    assert [(call["started_at"], call["seconds"]) for call in told["model_calls"]] == [(None, None)]


def test_a_hit_bears_the_date_that_its_source_gives(run: Run, ada: User, browse: Browse) -> None:
    page = browse(ada).get("/search/", {"q": "glaciers"}).content.decode()

    assert "29 February 2024" in page


def test_a_turn_that_is_open_has_no_end(run: Run) -> None:
    turn = run.turns.get(index=0)
    turn.status, turn.ended_at = "open", TOLD

    with pytest.raises(IntegrityError, match="turn_open_has_no_end"), transaction.atomic():
        turn.save()


def test_only_chats_stand_in_the_rail_and_among_titles(
    run: Run, ada: User, browse: Browse, tell: Callable[..., Run]
) -> None:
    tell(ada, {"thought": "Hm."}, question="Of afar and near")

    rail = browse(ada).get("/").content.decode()
    titles = browse(ada).get("/search/", {"q": "afar"}).content.decode()

    assert "Of afar and near" in rail
    assert "From afar" not in rail
    assert f'href="/conversations/{run.conversation_id}/"' not in titles


def test_a_kind_that_there_is_not_is_refused(ada: User) -> None:
    with pytest.raises(IntegrityError, match="conversation_kind_is_known"), transaction.atomic():
        Conversation.objects.create(owner=ada, kind="dream")
