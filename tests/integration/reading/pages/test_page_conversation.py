"""A conversation's page without scripts: every state of its runs, in words, however many."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Run, User

pytestmark = pytest.mark.usefixtures("policies")

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)>\"'"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "queued"}, "Next in line"),
        ({"status": "running"}, "Thinking"),
        ({"status": "waiting"}, "Waiting for you"),
        ({"status": "interrupted"}, "it goes on as soon as a worker is free"),
        ({"status": "succeeded", "answer": "4"}, "Answered in 1 step, 3.0 s"),
        ({"status": "stopped", "reason": "stopped"}, "You stopped this after 1 step, 3.0 s"),
        ({"status": "exhausted", "reason": "turns"}, "Ran out of turns after 1 step"),
        ({"status": "exhausted", "reason": "time"}, "Ran out of time after 1 step"),
        ({"status": "exhausted", "reason": "repeats"}, "Kept repeating itself, stopped after 1"),
        ({"status": "exhausted", "reason": "answered"}, "Cut off after 1 step"),
        ({"reason": "asked", "answer": "Which?"}, "Has a question for you"),
        (
            {"status": "stopped", "message": "Stopped by an administrator."},
            "Stopped by an administrator after 1 step",
        ),
        (
            {"status": "failed", "reason": "provider", "message": "Down."},
            "Could not answer after 1 step",
        ),
        ({"status": "failed", "reason": "provider", "message": "Down."}, "Down. Ask again once"),
    ],
)
def test_every_state_of_a_run_has_words(
    ada: User, tell: TellRun, browse: Browse, fields: dict[str, Any], words: str
) -> None:
    run = tell(ada, {"thought": "Hm."}, **fields)

    assert words in browse(ada).get(f"/conversations/{run.conversation_id}/").content.decode()


def test_a_run_that_failed_before_its_first_step_says_nothing_of_steps(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, status="failed", reason="provider", message="Down.")

    page = browse(ada).get(run.conversation.get_absolute_url()).content.decode()

    assert "Could not answer, 3.0 s" in page
    assert "Down. Ask again once the model answers." in page


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "The model server at http://10.0.0.7:8080/v1 is busy or failing (status 500): boom",
            "The model server is busy or failing: boom",
        ),
        ("No model server answers at llm.example:8080: refused.", "No model server answers: refus"),
        ("The model server at llm.example closed the connection.", "The model server closed the c"),
        ("It looked at everything and gave up.", "It looked at everything and gave up."),
    ],
)
def test_where_the_model_server_is_is_told_to_staff_and_not_to_every_member(
    ada: User, bob: User, tell: TellRun, browse: Browse, message: str, told: str
) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    for owner, words in ((ada, told), (bob, message)):
        run = tell(owner, status="failed", reason="provider", message=message)
        page = browse(owner).get(run.conversation.get_absolute_url()).content.decode()
        assert words in page


def test_a_run_in_the_queue_knows_its_place(ada: User, tell: TellRun, browse: Browse) -> None:
    tell(ada, status="queued")
    run = tell(ada, status="queued")

    page = browse(ada).get(run.conversation.get_absolute_url()).content.decode()

    assert "Waiting in line, 1 ahead" in page


def test_a_partial_answer_is_called_so(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, status="exhausted", reason="turns", answer="Some.", partial=True)

    page = browse(ada).get(run.conversation.get_absolute_url()).content.decode()

    assert "A partial answer" in page


def test_a_live_run_can_be_stopped_without_scripts(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, status="queued")
    browser = browse(ada)
    page = browser.get(run.conversation.get_absolute_url()).content.decode()

    browser.post(f"/runs/{run.pk}/stop/")

    run.refresh_from_db()
    assert f'action="/runs/{run.pk}/stop/"' in page
    assert run.status == "stopped"


def test_the_page_names_policy_version_and_model(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, answer="4", model="rule-based")

    page = browse(ada).get(run.conversation.get_absolute_url()).content.decode()

    assert f"{run.policy_version} · rule-based" in page


def test_the_demo_model_is_called_rule_based(ada: User, browse: Browse) -> None:
    page = browse(ada).get("/").content.decode()

    assert "rule-based" in page
    assert "OPENAI_API_KEY" in page


def test_hostile_text_is_shown_as_text(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(
        ada,
        {
            "thought": HOSTILE,
            "tool": "calculator",
            "inputs": {HOSTILE: HOSTILE, "nested": {"deep": [HOSTILE]}},
            "observation": HOSTILE,
        },
        question=HOSTILE,
        answer=HOSTILE,
        model=HOSTILE,
        status="failed",
        reason="provider",
        message=HOSTILE,
    )
    browser = browse(ada)

    for path in (run.conversation.get_absolute_url(), f"/runs/{run.pk}/", f"/runs/{run.pk}/turns/"):
        page = browser.get(path).content.decode()
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_no_page_needs_inline_style_or_script(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, {"thought": "Hm.", "observation": "4"}, answer="4")
    browser = browse(ada)

    for path in ("/", run.conversation.get_absolute_url(), f"/runs/{run.pk}/", "/no/such/page/"):
        page = browser.get(path).content.decode()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)


def test_a_long_conversation_begins_with_its_newest_questions(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    conversation = Conversation.objects.create(owner=ada)
    runs = [tell(ada, question=f"q{i}.", conversation=conversation) for i in range(33)]
    browser = browse(ada)
    page = conversation.get_absolute_url()

    newest = browser.get(page).content.decode()
    earlier = browser.get(f"{page}?before={runs[3].pk}").content.decode()

    assert "q32." in newest
    assert "q2." not in newest
    assert f"?before={runs[3].pk}" in newest
    assert "q2." in earlier
    assert "q3." not in earlier
    assert "Go to the newest question" in earlier


def test_a_conversation_takes_no_more_queries_with_more_runs(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    conversation = Conversation.objects.create(owner=ada)
    browser = browse(ada)
    counts = []
    for more in (2, 20):
        for _ in range(more):
            tell(ada, {"thought": "Hm."}, conversation=conversation, answer="4")
        with CaptureQueriesContext(connection) as queries:
            browser.get(conversation.get_absolute_url())
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_older_runs_bring_their_turns_when_they_are_unfolded(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    conversation = Conversation.objects.create(owner=ada)
    old = tell(ada, {"thought": "Long ago."}, conversation=conversation)
    for _ in range(5):
        tell(ada, {"thought": "Now."}, conversation=conversation)
    browser = browse(ada)

    page = browser.get(conversation.get_absolute_url()).content.decode()
    turns = browser.get(f"/runs/{old.pk}/turns/").content.decode()

    assert "Long ago." not in page
    assert "Now." in page
    assert "Long ago." in turns


def test_a_run_of_many_turns_leaves_the_first_to_the_transcript(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, *({"thought": f"thought {i}."} for i in range(70)), status="running")

    page = browse(ada).get(run.conversation.get_absolute_url()).content.decode()

    assert "20 earlier turns" in page
    assert "thought 19." not in page
    assert "thought 69." in page


@pytest.mark.parametrize("chosen", ["dark", "light"])
def test_the_chosen_theme_is_there_at_once(ada: User, browse: Browse, chosen: str) -> None:
    browser = browse(ada)
    browser.cookies["theme"] = chosen

    assert f'data-theme="{chosen}"' in browser.get("/").content.decode()


def test_a_made_up_theme_is_ignored(ada: User, browse: Browse) -> None:
    browser = browse(ada)
    browser.cookies["theme"] = "x"

    assert 'data-theme=""' in browser.get("/").content.decode()
