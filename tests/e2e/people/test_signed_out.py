"""A tab notices that another one was signed out of, and comes alive when one is signed in again."""

from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page, expect

from chat.models import User
from chat.policies import publish_seeds
from tests.e2e.asking import ask, write

SignIn = Callable[[Page, User], None]


def test_a_tab_that_was_signed_out_elsewhere_says_so_and_comes_alive_with_its_draft(
    page: Page, person: Callable[..., User], sign_in: SignIn
) -> None:
    publish_seeds()
    sign_in(page, person("ada"))
    page.goto("/")
    ask(page, "What is 2 + 2?")
    expect(page.locator(".run__words")).to_contain_text("Answered in")
    page.get_by_label("Your message").fill("What is 6 * 7?")
    other = page.context.new_page()
    other.goto("/")

    other.locator(".rail__account summary").click()
    other.get_by_role("button", name="Sign out").click()

    back = page.get_by_role("link", name="Sign in again")
    expect(back).to_be_visible()
    here = urlencode({"next": urlsplit(page.url).path})
    assert back.get_attribute("href") == f"/accounts/login/?{here}"
    other.goto("/accounts/login/")
    other.get_by_label("User name or email").fill("ada")
    other.get_by_label("Password").fill("ada-secret-1")
    other.get_by_role("button", name="Sign in").click()
    expect(back).to_be_hidden()
    expect(page.get_by_label("Your message")).to_have_value("What is 6 * 7?")
    page.wait_for_load_state()
    page.get_by_label("Your message").press("Enter")
    expect(page.locator(".run").last.locator(".run__answer")).to_contain_text("42")


def test_a_first_question_of_somebody_signed_out_is_kept_and_says_where_to_sign_in(
    page: Page, person: Callable[..., User], sign_in: SignIn
) -> None:
    publish_seeds()
    sign_in(page, person("ada"))
    page.goto("/")
    page.context.clear_cookies(name="sessionid")

    write(page, "What is 2 + 2?")

    expect(page.get_by_role("alert")).to_contain_text("You are signed out. Sign in again")
    expect(page.get_by_label("Your message")).to_have_value("What is 2 + 2?")
