"""Back shows what may still be seen: nothing private to who comes next, and never a lost draft.

The browser is one that keeps pages alive which are left, as people's browsers do.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from chat.models import User
from chat.policies import publish_seeds
from tests.e2e.asking import ask

SECRET = "What is 20 + 22?"


@pytest.fixture
def page(stack: Any, lasting_window: Callable[..., Page]) -> Page:
    """Open an empty window whose pages live on."""
    return lasting_window(base_url=stack.url, viewport={"width": 1280, "height": 800})


@pytest.fixture
def asked(page: Page, person: Callable[..., User], sign_in: Callable[[Page, User], None]) -> str:
    """Ask a question, wait for its answer, and return the address of the conversation."""
    publish_seeds()
    sign_in(page, person("ada"))
    page.goto("/")
    ask(page, SECRET)
    expect(page.locator(".run__answer")).to_contain_text("42")
    page.wait_for_url("**/conversations/*/")
    return page.url


def go_back(page: Page, pages: int = 1) -> None:
    """Press Back; Playwright's own waits for a load, which a page that lived on has none of."""
    page.evaluate(f"setTimeout(() => history.go(-{pages}))")


def test_back_after_signing_out_shows_nothing_private(page: Page, asked: str) -> None:
    page.locator("summary", has_text="ada").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    go_back(page)

    expect(page).to_have_url(re.compile("/accounts/login/"))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("20 + 22")


def test_back_after_deleting_shows_nothing_of_the_conversation(page: Page, asked: str) -> None:
    page.goto(f"{asked}delete/")
    page.locator("main").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted")).to_be_visible()

    page.goto("/search/")
    go_back(page, 3)

    expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("20 + 22")


def test_back_to_a_conversation_finds_what_was_being_written(page: Page, asked: str) -> None:
    page.get_by_label("Your message").fill("And what is half of")
    page.goto("/search/")

    go_back(page)

    expect(page.locator(".run__answer")).to_contain_text("42")
    expect(page.get_by_label("Your message")).to_have_value("And what is half of")
