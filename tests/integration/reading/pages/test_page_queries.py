"""Pages are read from the database by views, and not while they are rendered."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.live.access import news, stored
from chat.models import Approval, Run, User

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]
TURN = {"thought": "Hm.", "tool": "calculator", "inputs": {"expression": "1"}, "observation": "1"}
RAIL = "conversation_rail"
"""The tag that every page wears its list of conversations by, with one query of its own."""


@contextmanager
def asked_by_templates() -> Iterator[list[str]]:
    """Collect the statements that a template's own tags and filters make, but for the rail's."""
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if _is_of_a_template():
            statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield statements


def _is_of_a_template() -> bool:
    frame, is_rendered = sys._getframe(), False
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == RAIL:
            return False
        is_rendered |= frame.f_code.co_filename.endswith("django/template/base.py")
    return is_rendered


@pytest.fixture
def runs(ada: User, tell: TellRun) -> dict[str, Run]:
    """Store runs of one conversation of Ada's, each in another state."""
    first = tell(ada, TURN, TURN, answer="One", status="succeeded")
    place = {"conversation": first.conversation, "question": first.question}
    told = {
        "answered": first,
        "failed": tell(ada, TURN, status="failed", reason="provider", message="Away.", **place),
        "exhausted": tell(ada, TURN, status="exhausted", answer="Half", partial=True, **place),
        "stopped": tell(ada, TURN, status="stopped", **place),
        "again": tell(ada, TURN, status="succeeded", again_of=first, policy="rewoo", **place),
        "running": tell(ada, TURN, status="running", **place),
        "queued": tell(ada, status="queued", **place),
        "behind": tell(ada, status="queued", **place),
    }
    Approval.objects.create(
        run=told["failed"],
        turn_index=0,
        tool="calculator",
        inputs={},
        safety="sensitive",
        status="granted",
        decided_by=ada,
        decided_at=timezone.now(),
        expires_at=timezone.now() + timedelta(hours=1),
    )
    return told


@pytest.mark.parametrize("name", ["answered", "failed", "exhausted", "stopped", "again", "running"])
def test_a_transcript_is_not_read_while_it_is_rendered(
    name: str, runs: dict[str, Run], ada: User, rita: User, browse: Browse
) -> None:
    for reader in (ada, rita):
        with asked_by_templates() as statements:
            page = browse(reader).get(runs[name].get_absolute_url())

        assert page.status_code == 200
        assert statements == []


def test_a_transcript_of_a_queued_run_says_its_place_without_being_read_anew(
    runs: dict[str, Run], ada: User, browse: Browse
) -> None:
    with asked_by_templates() as statements:
        page = browse(ada).get(runs["behind"].get_absolute_url())

    assert "in line" in page.content.decode()
    assert statements == []


def test_a_conversation_is_not_read_while_it_is_rendered(
    runs: dict[str, Run], ada: User, browse: Browse
) -> None:
    with asked_by_templates() as statements:
        page = browse(ada).get(runs["queued"].conversation.get_absolute_url())

    assert "in line" in page.content.decode()
    assert statements == []


@pytest.mark.parametrize("other", ["again", "exhausted", "failed", "running", "queued"])
def test_a_comparison_is_not_read_while_it_is_rendered(
    other: str, runs: dict[str, Run], ada: User, rita: User, browse: Browse
) -> None:
    for reader in (ada, rita):
        with asked_by_templates() as statements:
            page = browse(reader).get(
                f"{runs['answered'].get_absolute_url()}compare/{runs[other].pk}/"
            )

        assert page.status_code == 200
        assert statements == []


@pytest.mark.parametrize("words", ["", "hm", "why", "tool:calculator status:failed"])
def test_results_are_not_read_while_they_are_rendered(
    words: str, runs: dict[str, Run], ada: User, rita: User, browse: Browse
) -> None:
    for reader in (ada, rita):
        with asked_by_templates() as statements:
            page = browse(reader).get("/search/", {"q": words})

        assert "calculator" in page.content.decode()
        assert statements == []


def test_what_a_live_page_is_told_is_not_read_while_it_is_rendered(runs: dict[str, Run]) -> None:
    with asked_by_templates() as statements:
        told = news(runs["answered"].conversation, 0)
        shown = [stored(run.pk) for run in runs.values()]

    assert [run.run_id for run in told] == [run.pk for run in runs.values()]
    assert all(shown)
    assert statements == []
