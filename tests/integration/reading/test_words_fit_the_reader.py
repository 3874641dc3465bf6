"""A page speaks to who reads it: to who asked as "you", to a reviewer of them by their name."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Approval, Run, User
from chat.stream.render import render_run, render_turn
from tests.integration.reading.answers import text_of

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

ACTION = {"thought": "Go.", "tool": "python_repl", "inputs": {"code": "1"}, "status": "open"}


def page_of(run: Run, reader: User, browse: Browse) -> str:
    return browse(reader).get(f"/runs/{run.pk}/").content.decode()


@pytest.fixture
def waiting(ada: User, tell: TellRun) -> Run:
    """Store a run that asks Ada whether it may run Python."""
    run = tell(ada, ACTION | {"ended_at": None}, status="waiting")
    Approval.objects.create(
        run=run,
        turn_index=0,
        tool="python_repl",
        inputs={"code": "1"},
        safety="sensitive",
        expires_at=timezone.now() + timedelta(hours=1),
    )
    return run


def test_a_run_waits_for_its_owner_and_not_for_who_reviews_it(
    waiting: Run, ada: User, rita: User, browse: Browse
) -> None:
    mine, hers = page_of(waiting, ada, browse), page_of(waiting, rita, browse)

    assert "Waiting for you" in mine
    assert "Waiting for ada" in hers
    assert 'data-asker="ada"' in hers
    assert "for you" not in hers
    assert "data-asker" not in mine


@pytest.mark.parametrize(
    ("fields", "to_owner", "to_reviewer"),
    [
        ({"message": "Stopped by you."}, "You stopped this after 1 step", "ada stopped this after"),
        (
            {"message": "Stopped by an administrator."},
            "Stopped by an administrator after 1 step",
            "Stopped by an administrator after 1 step",
        ),
        (
            {"status": "exhausted", "reason": "turns", "message": "It used up its turns."},
            "It used up its turns. Ask a narrower question",
            "<p>It used up its turns.</p>",
        ),
        ({"reason": "asked", "status": "succeeded"}, "a question for you", "a question for ada"),
    ],
)
def test_an_end_is_told_to_who_reads_it(
    ada: User,
    rita: User,
    tell: TellRun,
    browse: Browse,
    fields: dict[str, Any],
    to_owner: str,
    to_reviewer: str,
) -> None:
    run = tell(ada, {"thought": "Hm."}, **{"status": "stopped", "reason": "stopped"} | fields)

    mine, hers = page_of(run, ada, browse), page_of(run, rita, browse)

    assert to_owner in mine
    assert to_reviewer in hers
    for words in ("You stopped", "Stopped by you", "for you", "Ask a narrower", "Ask again"):
        assert words not in hers


def test_side_by_side_a_stop_is_whose_it_was(
    ada: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, status="stopped", reason="stopped", message="Stopped by you.")
    address = f"/runs/{run.pk}/compare/{run.pk}/"

    assert "You stopped this." in browse(ada).get(address).content.decode()
    assert "ada stopped this." in browse(rita).get(address).content.decode()


def test_a_document_to_take_away_names_who_stopped_it(
    ada: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, status="stopped", reason="stopped", message="Stopped by you.")

    for reader in (ada, rita):
        answer = browse(reader).get(f"/runs/{run.pk}/transcript.md")
        assert text_of(answer).endswith("_ada stopped this._\n")


def test_a_frame_speaks_to_the_owner_in_its_article_and_to_nobody_in_its_turns(
    waiting: Run,
) -> None:
    (turn,) = Approval.objects.attach(waiting.turns.all())

    assert "Waiting for you" in render_run(waiting)
    assert "Waiting for an answer: python_repl" in render_turn(turn, waiting)
    assert "for you" not in render_turn(turn, waiting)


def test_what_a_tool_does_is_told_without_a_you(ada: User, tell: TellRun) -> None:
    run = tell(ada, ACTION | {"tool": "ask_user", "ended_at": None}, status="waiting")

    assert 'data-doing="Asking a question"' in render_turn(run.turns.get(), run)
