"""The list of conversations: which work, their titles, their pages, and their deletion."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Run, User

pytestmark = pytest.mark.usefixtures("policies")

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


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


@pytest.mark.parametrize(("address", "words"), [("/?page=99", "no older"), ("/", "will be listed")])
def test_a_page_beyond_the_last_says_that_there_is_nothing_older(
    ada: User, browse: Browse, address: str, words: str
) -> None:
    assert words in browse(ada).get(address).content.decode()
