"""The keyboard is never nowhere, and no single key throws away what is being written."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy, User
from chat.policies import publish_seeds
from tests.e2e.asking import ask

SignIn = Callable[[Page, User], None]
ASKS = (
    {"say": 'Thought: May I?\nAction: calculator\nAction Input: {"expression": "6 * 7"}'},
    {"say": "Final Answer: Done."},
)
SLOW = ({"say": "Thought: " + "tick " * 400, "rate": 20},)
QUESTION = (
    {"say": 'Thought: Which?\nAction: ask_user\nAction Input: {"question": "Red or blue?"}'},
)


@pytest.fixture
def ada(person: Callable[..., User], sign_in: SignIn, page: Page) -> User:
    """Sign Ada in on the page, with policies that ask, that are slow, and those that come."""
    publish_seeds()
    for slug, script, approve in (
        ("asks", ASKS, ("calculator",)),
        ("slow", SLOW, ()),
        ("question", QUESTION, ()),
    ):
        model = ModelChoice(provider="scripted", script=script)
        tools = ("calculator", "ask_user")
        spec = PolicySpec(policy="explicit", model=model, tools=tools, approve=approve)
        Policy.objects.create(slug=slug, name=slug).publish(spec)
    ada = person("ada")
    sign_in(page, ada)
    return ada


@pytest.fixture
def answered(page: Page, ada: User) -> Page:
    """Ask a first question and wait for its answer."""
    page.goto("/")
    ask(page, "What is 2 + 2?", "explicit")
    expect(page.locator(".run__words")).to_contain_text("Answered in")
    return page


def test_after_the_first_answer_one_goes_on_writing_and_nothing_is_lost(answered: Page) -> None:
    message = answered.get_by_label("Your message")
    expect(message).to_be_focused()
    address = answered.url

    answered.keyboard.type("no, I meant and/or the other one?")

    expect(message).to_have_value("no, I meant and/or the other one?")
    assert answered.url == address


def test_letters_typed_where_nothing_takes_them_begin_a_message(answered: Page) -> None:
    answered.locator(".run__answer").click()
    expect(answered.get_by_label("Your message")).not_to_be_focused()

    answered.keyboard.type("no, what/when?")

    expect(answered.get_by_label("Your message")).to_have_value("no, what/when?")


def test_single_keys_do_nothing_for_who_turned_them_off(answered: Page) -> None:
    answered.evaluate("localStorage.setItem('turnstone:shortcuts-off', 'yes')")
    answered.locator(".run__answer").click()

    answered.keyboard.type("n?/")

    expect(answered.get_by_label("Your message")).to_have_value("")
    expect(answered.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("name", ["Allow once", "Refuse"])
def test_after_an_approval_the_keyboard_is_at_the_message(page: Page, ada: User, name: str) -> None:
    page.goto("/")
    ask(page, "What is 6 * 7?", "asks")
    expect(page.locator(".run__words")).to_contain_text("Waiting for you")

    page.get_by_role("button", name=name).press("Enter")

    expect(page.locator(".run__answer")).to_contain_text("Done.")
    expect(page.get_by_label("Your message")).to_be_focused()


def test_after_a_stop_the_keyboard_is_at_the_message(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(page.locator(".turn__thought").first).to_contain_text("tick")
    expect(page.get_by_role("button", name="Send")).to_be_hidden()
    page.get_by_role("button", name="Stop").focus()

    page.keyboard.press("Enter")

    expect(page.locator(".run__words")).to_contain_text("You stopped this")
    expect(page.get_by_label("Your message")).to_be_focused()
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_dialog_gives_the_keyboard_back_to_where_it_was(answered: Page) -> None:
    menu = answered.locator("summary[title=Conversation]")
    for item in ("Rename", "Delete"):
        menu.focus()
        answered.keyboard.press("Enter")
        answered.get_by_role("link", name=item).focus()
        answered.keyboard.press("Enter")
        expect(answered.get_by_role("dialog")).to_be_visible()
        answered.keyboard.press("Escape")
        expect(menu).to_be_focused()
    again = answered.get_by_role("link", name="Try another policy")
    again.focus()
    answered.keyboard.press("Enter")
    expect(answered.get_by_role("dialog")).to_be_visible()
    answered.keyboard.press("Escape")
    expect(again).to_be_focused()


def test_renaming_selects_the_title_and_then_the_keyboard_is_at_the_message(answered: Page) -> None:
    answered.locator("summary[title=Conversation]").click()
    answered.get_by_role("link", name="Rename").click()

    answered.keyboard.type("Small sums")
    answered.keyboard.press("Enter")

    expect(answered.get_by_role("heading", name="Small sums")).to_be_visible()
    expect(answered.get_by_label("Your message")).to_be_focused()


def test_after_a_deletion_the_keyboard_is_at_a_new_message(answered: Page) -> None:
    answered.locator("summary[title=Conversation]").click()
    answered.get_by_role("link", name="Delete").click()
    answered.get_by_role("button", name="Delete").press("Enter")

    expect(answered.get_by_text("Deleted “What is 2 + 2?”.")).to_be_visible()
    expect(answered.get_by_label("Your message")).to_be_focused()


def test_a_menu_closed_by_escape_stops_no_run(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(page.locator(".turn__thought").first).to_contain_text("tick")
    page.locator("summary[title=Conversation]").click()
    page.get_by_role("link", name="Rename").focus()

    page.keyboard.press("Escape")

    expect(page.locator("summary[title=Conversation]")).to_be_focused()
    expect(page.get_by_role("link", name="Rename")).to_be_hidden()
    expect(page.get_by_role("status")).to_have_text("Thinking")


def test_from_the_top_of_the_page_the_message_is_two_keys_away(answered: Page) -> None:
    answered.evaluate("document.body.prepend(document.createElement('button'))")
    answered.locator("body > button").focus()
    answered.keyboard.press("Tab")
    answered.keyboard.press("Tab")
    expect(answered.get_by_role("link", name="Skip to your message")).to_be_focused()

    answered.keyboard.press("Enter")

    expect(answered.get_by_label("Your message")).to_be_focused()


def test_a_question_of_the_agent_is_shown_once_and_the_message_answers_it(
    page: Page, ada: User
) -> None:
    page.goto("/")
    ask(page, "Paint it.", "question")

    expect(page.locator(".run__words")).to_contain_text("Has a question for you")
    expect(page.locator(".run").get_by_text("Red or blue?")).to_have_count(1)
    message = page.get_by_label("Your message")
    expect(message).to_have_attribute("placeholder", "Answer the agent")
    page.reload()
    expect(message).to_have_attribute("placeholder", "Answer the agent")
    expect(page.locator(".run").get_by_text("Red or blue?")).to_have_count(1)


def test_the_theme_is_chosen_without_opening_the_menu_each_time(answered: Page) -> None:
    answered.locator(".rail__account summary").click()
    theme = answered.get_by_role("button", name="Theme:")
    expect(theme).to_have_text("Theme: System")
    theme.click()
    expect(theme).to_have_text("Theme: Light")
    theme.click()
    expect(theme).to_have_text("Theme: Dark")

    answered.goto("/no/such/page/")

    expect(answered.locator("html")).to_have_attribute("data-theme", "dark")
