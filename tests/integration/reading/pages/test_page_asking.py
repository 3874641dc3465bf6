"""Asking without scripts: what begins, what goes on, and what is given back with a reason."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from chat.models import Conversation, Run, User
from tests.integration.reading.pages.asking import question

pytestmark = pytest.mark.usefixtures("policies")

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


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


def test_a_newcomer_is_given_the_plain_policy_of_all_that_are_offered(
    ada: User, browse: Browse
) -> None:
    page = browse(ada).get("/").content.decode()
    assert re.search(r'<option value="explicit"[^>]* selected', page)
