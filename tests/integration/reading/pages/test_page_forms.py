"""What a form sends is checked by the form, and a reason stands where it belongs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Approval, Conversation, Run, User
from chat.policies import publish_seeds

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _policies(db: None) -> None:
    publish_seeds()


@pytest.fixture
def place(ada: User) -> Conversation:
    """Make an empty conversation of Ada's."""
    return Conversation.objects.create(owner=ada, title="Sums")


def test_why_a_question_is_refused_stands_in_the_composer_alone(
    ada: User, place: Conversation, browse: Browse
) -> None:
    page = browse(ada).post(place.get_absolute_url(), {"text": " ", "policy": "explicit"})

    assert page.status_code == 422
    assert page.content.decode().count("Write a question first.") == 1


@pytest.mark.parametrize("policy", ["", "nobody", "expl\0icit"])
def test_a_policy_that_is_not_offered_is_refused_and_the_question_kept(
    policy: str, ada: User, place: Conversation, browse: Browse
) -> None:
    page = browse(ada).post(place.get_absolute_url(), {"text": "a\r\nb", "policy": policy})

    assert page.status_code == 422
    assert ">Choose one of the policies in the list.</p>" in page.content.decode()
    assert ">a\nb</textarea>" in page.content.decode()
    assert not place.runs.exists()


def test_a_question_is_stored_with_the_line_ends_that_were_typed(
    ada: User, place: Conversation, browse: Browse
) -> None:
    browse(ada).post(place.get_absolute_url(), {"text": "a\r\n  b\0", "policy": "explicit"})

    assert place.runs.get().question == "a\n  b"


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("\0 \n", "Give it a title."),
        ("x" * 121, "A title has at most 120 characters."),
    ],
)
def test_a_title_is_refused_in_words_beside_it(
    title: str, words: str, ada: User, place: Conversation, browse: Browse
) -> None:
    page = browse(ada).post(f"{place.get_absolute_url()}rename/", {"title": title})

    assert page.status_code == 422
    assert f'<p class="field__errors" role="alert">{words}</p>' in page.content.decode()
    assert Conversation.objects.get().title == "Sums"


def test_a_title_is_stored_on_one_line(ada: User, place: Conversation, browse: Browse) -> None:
    browse(ada).post(f"{place.get_absolute_url()}rename/", {"title": "  More\r\n su\0ms "})

    assert Conversation.objects.get().title == "More sums"


@pytest.mark.parametrize("policy", ["", "nobody", "expl\0icit"])
def test_whoever_asks_again_is_told_what_they_can_choose(
    policy: str, ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada)

    page = browse(ada).post(f"{run.get_absolute_url()}again/", {"policy": policy}, follow=True)

    assert "Ask again under one of these: careful, explicit" in page.content.decode()
    assert Run.objects.count() == 1


@pytest.mark.parametrize("decision", [None, "", "perhaps"])
def test_an_approval_is_not_answered_by_half(
    decision: str | None, ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    approval = Approval.objects.create(
        run=tell(ada, status="waiting"),
        turn_index=0,
        tool="calculator",
        inputs={},
        safety="sensitive",
        expires_at=timezone.now() + timedelta(hours=1),
    )
    sent = {} if decision is None else {"decision": decision}

    assert browse(ada).post(f"/approvals/{approval.pk}/", sent).status_code == 400
    assert browse(bob).post(f"/approvals/{approval.pk}/", sent).status_code == 404
    assert Approval.objects.get().is_pending
