"""Getting in and out."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from chat.models import User


def fill_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("User name or email").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_person_signs_in_and_out(page: Page, person: Callable[..., User]) -> None:
    person("ada")
    page.goto("/")

    fill_in(page, "ada", "ada-secret-1")

    expect(page.get_by_role("heading", name="Ask, and watch every turn")).to_be_visible()
    page.locator("summary", has_text="ada").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/")
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_a_wrong_password_is_said_in_words(page: Page, person: Callable[..., User]) -> None:
    person("ada")
    page.goto("/")

    fill_in(page, "ada", "wrong")

    expect(page.get_by_role("alert")).to_contain_text("not correct")
    expect(page.get_by_label("User name or email")).to_have_value("ada")


def test_guessing_is_slowed_down(page: Page, person: Callable[..., User]) -> None:
    person("ada")
    page.goto("/")

    for _ in range(6):
        fill_in(page, "ada", "wrong")
        expect(page.get_by_role("alert")).to_be_visible()

    expect(page.get_by_role("alert")).to_contain_text(
        "Too many wrong passwords. Try again in 5 minutes."
    )


def test_signing_in_leads_back_to_the_page_that_was_asked_for(
    page: Page, person: Callable[..., User]
) -> None:
    person("ada")
    page.goto("/search/?q=tides")

    fill_in(page, "ada", "ada-secret-1")

    expect(page).to_have_url(re.compile(r"/search/\?q=tides"))


def test_sign_up_is_closed_unless_it_is_opened(page: Page) -> None:
    page.goto("/accounts/signup/")

    expect(page.get_by_role("heading", name="Sign-up is closed")).to_be_visible()


def test_the_password_can_be_changed(
    page: Page, person: Callable[..., User], sign_in: Callable[[Page, User], None]
) -> None:
    ada = person("ada")
    sign_in(page, ada)
    page.goto("/accounts/password/change/")

    page.get_by_label("Current password").fill("ada-secret-1")
    page.get_by_label("New password", exact=True).fill("tide-and-stone-7")
    page.get_by_label("New password (again)").fill("tide-and-stone-7")
    page.get_by_role("button", name="Change the password").click()

    expect(page.get_by_role("status").filter(has_text="Password")).to_be_visible()
    ada.refresh_from_db()
    assert ada.check_password("tide-and-stone-7")
