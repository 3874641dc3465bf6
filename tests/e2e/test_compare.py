"""Asking again under another policy, and watching both side by side, in a real browser."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from chat.models import Conversation, Policy, Run, User
from chat.runs.ask import ask


@pytest.fixture
def ada(person: Callable[..., User]) -> User:
    """Make a member."""
    return person("ada")


@pytest.fixture
def answered(stack: Any, ada: User, wait_for: Callable[..., None]) -> Run:
    """Ask the demo model a question of Ada's and wait for its answer."""
    run = ask(
        Conversation.objects.create(owner=ada),
        "What is 37 * 43 + 12?",
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
    )
    wait_for(lambda: Run.objects.get(pk=run.pk).status == "succeeded", "the answer")
    return run


def test_a_question_is_asked_again_and_both_runs_are_watched_to_the_end(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run
) -> None:
    sign_in(page, ada)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"/runs/{answered.pk}/")
    form = page.locator("form[action$='/again/']").first
    form.get_by_label(re.compile("Implicit")).check()
    form.get_by_role("button", name="Ask again").click()

    expect(page).to_have_url(re.compile(rf"/runs/{answered.pk}/compare/\d+/$"))
    left, right = page.get_by_label("A", exact=True), page.get_by_label("B", exact=True)
    expect(left).to_contain_text("1603")
    expect(right.locator(".figures__status")).to_have_text("answered")
    expect(right.locator(".compare__answer")).to_contain_text("1603")
    expect(page.get_by_title("Same tool and inputs").first).to_be_visible()
    expect(page.locator("[hx-get]")).to_have_count(0)
    assert complaints == []


def test_on_a_phone_the_title_is_whole_and_long_answers_leave_room_for_the_turns(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run
) -> None:
    Run.objects.filter(pk=answered.pk).update(answer="A long answer. " * 400, answer_html="")
    sign_in(page, ada)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/runs/{answered.pk}/compare/{answered.pk}/")

    title = page.get_by_role("heading", level=1)
    first = page.locator(".compare__row .turn").first.bounding_box()

    assert title.evaluate("title => title.scrollWidth <= title.clientWidth")
    assert first is not None
    assert first["y"] < 3 * 844
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_comparison_can_be_used_by_everyone(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run, scheme: Any
) -> None:
    sign_in(page, ada)
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/runs/{answered.pk}/compare/{answered.pk}/")

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
