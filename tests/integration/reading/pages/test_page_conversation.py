"""The pages of conversations, as they are without scripts."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Run, User
from chat.policies import publish_seeds

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)>\"'"


@pytest.fixture(autouse=True)
def _policies(db: None) -> None:
    publish_seeds()


def question(text: str = "What is 2 + 2?", **fields: Any) -> dict[str, Any]:
    return {"text": text, "policy": "explicit", "client_message_id": str(uuid.uuid4())} | fields


def test_the_first_question_begins_a_conversation(ada: User, browse: Browse) -> None:
    answer = browse(ada).post("/conversations/new/", question())

    run = Run.objects.get()
    assert answer.headers["Location"] == f"/conversations/{run.conversation_id}/"
    assert run.conversation.title == "What is 2 + 2?"
    assert run.conversation.owner == ada


def test_a_first_question_sent_twice_begins_one_conversation(ada: User, browse: Browse) -> None:
    sent = question()
    browser = browse(ada)

    pages = {browser.post("/conversations/new/", sent).headers["Location"] for _ in range(2)}

    assert len(pages) == 1
    assert Conversation.objects.count() == Run.objects.count() == 1


def test_a_script_is_told_where_the_new_conversation_is_or_why_there_is_none(
    ada: User, browse: Browse
) -> None:
    browser = browse(ada)
    headers = {"Accept": "application/json"}

    begun = browser.post("/conversations/new/", question(), headers=headers)
    refused = browser.post("/conversations/new/", question(" "), headers=headers)

    only = Conversation.objects.get()
    assert (begun.status_code, begun.json()) == (201, {"url": only.get_absolute_url()})
    assert (refused.status_code, refused.json()) == (422, {"error": "Write a question first."})


def test_a_new_conversation_begins_with_the_policy_that_was_asked_last(
    ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, policy="implicit")
    tell(bob, policy="rewoo")

    page = browse(ada).get("/").content.decode()

    assert re.search(r'<option value="implicit" selected>', page)


def test_which_conversations_work_is_told_to_their_owner_alone(
    ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    works, waits = tell(ada, status="running"), tell(ada, status="waiting")
    tell(ada, status="succeeded")
    tell(bob, status="running")

    told = browse(ada).get("/conversations/working/")

    assert told.json() == {
        str(works.conversation_id): "working",
        str(waits.conversation_id): "waiting",
    }
    assert Client().get("/conversations/working/").status_code == 302


def test_one_persons_message_id_says_nothing_of_anothers(
    ada: User, bob: User, browse: Browse
) -> None:
    sent = question()
    browse(ada).post("/conversations/new/", sent)

    answer = browse(bob).post("/conversations/new/", sent)

    theirs = Conversation.objects.get(owner=bob)
    assert answer.headers["Location"] == f"/conversations/{theirs.pk}/"


def test_a_further_question_goes_into_the_conversation(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    first = tell(ada, answer="Four.")
    page = f"/conversations/{first.conversation_id}/"

    answer = browse(ada).post(page, question("And doubled?"))

    second = Run.objects.latest("pk")
    assert answer.headers["Location"] == f"{page}#run-{second.pk}"
    assert second.parent == first


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (question("   \n "), "Write a question first."),
        (question("x" * 100_001), "100,001 characters"),
        (question(policy="no-such"), "Choose one of the policies"),
        (question(policy="\0"), "Choose one of the policies"),
        ({}, "Choose one of the policies"),
    ],
)
def test_a_question_that_cannot_be_asked_is_given_back_with_the_reason(
    ada: User, browse: Browse, sent: dict[str, Any], words: str
) -> None:
    answer = browse(ada).post("/conversations/new/", sent)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert sent.get("text", "") in page
    assert not Conversation.objects.exists()


def test_a_bad_further_question_is_given_back_in_its_conversation(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, answer="Four.")

    answer = browse(ada).post(
        f"/conversations/{run.conversation_id}/", question(policy="no-such", text="And doubled?")
    )

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "And doubled?" in page
    assert "Four." in page


def test_a_forms_line_ends_become_those_that_were_typed(ada: User, browse: Browse) -> None:
    browse(ada).post("/conversations/new/", question("one\r\ntwo"))

    assert Run.objects.get().question == "one\ntwo"


def test_nul_characters_do_no_harm(ada: User, browse: Browse) -> None:
    browse(ada).post("/conversations/new/", question("What is\0 2 + 2?"))

    assert Run.objects.get().question == "What is 2 + 2?"


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


def test_a_title_can_be_changed(ada: User, tell: TellRun, browse: Browse) -> None:
    conversation = tell(ada).conversation

    answer = browse(ada).post(
        f"/conversations/{conversation.pk}/rename/", {"title": "  Two \n words\0 "}
    )

    conversation.refresh_from_db()
    assert answer.headers["Location"] == conversation.get_absolute_url()
    assert conversation.title == "Two words"


@pytest.mark.parametrize(("title", "words"), [(" ", "Give it a title"), ("x" * 121, "at most 120")])
def test_a_bad_title_is_refused_in_words(
    ada: User, tell: TellRun, browse: Browse, title: str, words: str
) -> None:
    conversation = tell(ada, question="Why?").conversation

    answer = browse(ada).post(f"/conversations/{conversation.pk}/rename/", {"title": title})

    conversation.refresh_from_db()
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert conversation.title == "Why?"


def test_renaming_does_not_move_a_conversation_to_the_top(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    conversation = tell(ada).conversation
    before = Conversation.objects.get(pk=conversation.pk).updated_at

    browse(ada).post(f"/conversations/{conversation.pk}/rename/", {"title": "Other"})

    assert Conversation.objects.get(pk=conversation.pk).updated_at == before


def test_deleting_asks_first_and_takes_everything(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, {"thought": "Hm."}, status="queued")
    browser = browse(ada)
    page = f"/conversations/{run.conversation_id}/delete/"

    browser.get(page)
    assert Conversation.objects.exists()
    answer = browser.post(page, follow=True)

    assert "Deleted" in answer.content.decode()
    assert not Conversation.objects.exists()
    assert not Run.objects.exists()


def test_the_list_is_grouped_by_age_and_marks_what_works(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    live = tell(ada, status="running", question="Live").conversation
    for days, title in ((1, "Second"), (5, "Third"), (400, "Fourth")):
        old = tell(ada, question=title).conversation
        moment = timezone.now() - timedelta(days=days)
        Conversation.objects.filter(pk=old.pk).update(updated_at=moment)

    page = browse(ada).get("/").content.decode()

    heads = [page.index(head) for head in ("Today", "Yesterday", "Previous 7 days", "Fourth")]
    assert heads == sorted(heads)
    row = re.search(rf'data-conversation="{live.pk}".*?</a>', page, re.DOTALL)
    assert row is not None
    assert "hidden" not in row.group()


def test_hundreds_of_conversations_come_in_pages(ada: User, browse: Browse) -> None:
    Conversation.objects.bulk_create(Conversation(owner=ada, title=f"c{i}") for i in range(130))
    browser = browse(ada)

    first = browser.get("/").content.decode()
    second = browser.get("/?page=2", headers={"HX-Request": "true"}).content.decode()
    third = browser.get("/?page=3").content.decode()

    assert first.count('class="rail__row"') == 60
    assert "?page=2" in first
    assert second.count('class="rail__row"') == 60
    assert "<html" not in second
    assert "<html" in third
    assert "?page=4" not in third


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 40, "1.5", "٣"])
def test_a_strange_page_number_does_no_harm(ada: User, browse: Browse, page: str) -> None:
    assert browse(ada).get(f"/?page={page}").status_code == 200


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


def test_a_newcomer_is_given_the_plain_policy_of_all_that_are_offered(
    ada: User, browse: Browse
) -> None:
    page = browse(ada).get("/").content.decode()
    assert re.search(r'<option value="explicit"[^>]* selected', page)


@pytest.mark.parametrize(("address", "words"), [("/?page=99", "no older"), ("/", "will be listed")])
def test_a_page_beyond_the_last_says_that_there_is_nothing_older(
    ada: User, browse: Browse, address: str, words: str
) -> None:
    assert words in browse(ada).get(address).content.decode()
