"""What is being read stays where it is, and has the room that it needs."""

import uuid
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from chat.models import Conversation, Policy, Run, User
from chat.policies import publish_seeds

SignIn = Callable[[Page, User], None]
TOP = "document.getElementById(id).getBoundingClientRect().top"


@pytest.fixture
def conversation(person: Callable[..., User], sign_in: SignIn, page: Page) -> Conversation:
    """Store a conversation of a hundred long answers; Ada is on the page."""
    publish_seeds()
    ada = person("ada")
    sign_in(page, ada)
    made = Conversation.objects.create(owner=ada, title="Long")
    now = timezone.now()
    for number in range(100):
        Run.objects.create(
            conversation=made,
            policy_version=Policy.objects.get(slug="explicit").latest,
            client_message_id=uuid.uuid4(),
            question=f"Question {number}?",
            status="succeeded",
            answer="word " * 300,
            started_at=now,
            ended_at=now,
        )
    return made


def test_earlier_questions_come_in_above_and_what_is_read_stays_where_it_is(
    page: Page, conversation: Conversation
) -> None:
    page.goto(conversation.get_absolute_url())
    for shown in (60, 90, 100):
        page.wait_for_load_state()
        page.evaluate("scrollTo(0, 0)")
        first = page.locator(".run").first.get_attribute("id") or ""
        top = page.evaluate(f"id => {TOP}", first)

        page.get_by_role("link", name="Earlier questions").press("Enter")
        expect(page.locator(".run")).to_have_count(shown)

        page.evaluate("new Promise(requestAnimationFrame)")
        assert abs(page.evaluate(f"id => {TOP}", first) - top) < 2
        expect(page.locator(f"#{first} summary")).to_be_focused()


@pytest.mark.parametrize(("width", "height"), [(360, 225), (740, 360)])
def test_where_little_height_is_left_neither_bar_nor_composer_takes_any_of_it(
    page: Page, conversation: Conversation, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(conversation.get_absolute_url())

    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")

    expect(page.locator(".bar")).not_to_be_in_viewport()
    expect(page.locator("#composer")).not_to_be_in_viewport()
