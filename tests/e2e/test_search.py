"""Searching as a person does it, in a real browser."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from chat.models import Conversation, Policy, Run, User
from chat.runs.ask import ask
from tests.searching import as_many_as_may_be

QUESTION = "What is 37 * 43 + 12?"


@pytest.fixture
def ada(person: Callable[..., User]) -> User:
    """Make a member."""
    return person("ada")


@pytest.fixture
def answered(stack: Any, ada: User, wait_for: Callable[..., None]) -> Run:
    """Ask the demo model a question of Ada's and wait for its answer."""
    run = ask(
        Conversation.objects.create(owner=ada),
        QUESTION,
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
    )
    wait_for(lambda: Run.objects.get(pk=run.pk).status == "succeeded", "the answer")
    return run


def test_results_follow_the_typing_and_open_at_the_turn(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run
) -> None:
    sign_in(page, ada)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto("/search/")

    page.get_by_label("Words, phrases and fields").press_sequentially("1603 tool:calculator")

    expect(page.get_by_text("1 turn, newest first")).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=1603\+tool%3Acalculator|q=1603%20tool%3Acalculator"))
    expect(page.locator("mark")).to_have_text("1603")
    page.get_by_role("link", name=re.compile(f"run {answered.pk}, turn 1")).click()
    expect(page.locator(f"#run-{answered.pk}-turn-1")).to_be_in_viewport()
    expect(page).to_have_url(re.compile(f"#run-{answered.pk}-turn-1$"))
    assert complaints == []


def test_a_search_that_had_to_wait_for_others_begins_by_itself(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run
) -> None:
    sign_in(page, ada)
    page.goto("/search/")
    with as_many_as_may_be(ada, "search"):
        page.get_by_label("Words, phrases and fields").press_sequentially("1603")
        expect(page.get_by_role("alert")).to_contain_text(
            "Two of your searches are still under way"
        )

    expect(page.locator("mark").first).to_have_text("1603")


def test_a_bad_clause_is_explained_where_it_was_typed(
    page: Page, sign_in: Callable[[Page, User], None], ada: User
) -> None:
    sign_in(page, ada)
    page.goto("/search/")

    page.get_by_label("Words, phrases and fields").fill("tool:pyhton")

    expect(page.get_by_role("alert")).to_contain_text("there is no tool 'pyhton'")


def test_search_works_with_scripts_blocked(
    stack: Any,
    window: Callable[..., Page],
    sign_in: Callable[[Page, User], None],
    ada: User,
    answered: Run,
) -> None:
    page = window(base_url=stack.url, java_script_enabled=False)
    sign_in(page, ada)
    page.goto("/search/")

    page.get_by_label("Words, phrases and fields").fill("calculator")
    page.get_by_role("button", name="Search", exact=True).click()

    expect(page.locator(".hit").first).to_contain_text("calculator")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_results_can_be_used_by_everyone(
    page: Page, sign_in: Callable[[Page, User], None], ada: User, answered: Run, scheme: Any
) -> None:
    sign_in(page, ada)
    page.emulate_media(color_scheme=scheme)
    page.goto("/search/?q=calculator")
    expect(page.locator(".hit").first).to_be_visible()

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()


def test_a_long_title_ends_at_the_edge_of_a_telephone(
    page: Page, sign_in: Callable[[Page, User], None], ada: User
) -> None:
    title = "A conversation about bernache that goes on and on as titles of first questions do"
    Conversation.objects.create(owner=ada, title=title)
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, ada)
    page.goto("/search/?q=bernache")

    link = page.get_by_role("link", name=title)
    expect(link).to_be_visible()
    assert link.evaluate("link => link.getBoundingClientRect().right <= innerWidth")
