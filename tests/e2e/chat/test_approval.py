"""A risky action is allowed or refused in a real browser, whatever is reloaded or restarted."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Approval, Policy, Run, User
from chat.policies import publish_seeds
from tests.e2e.asking import ask

SignIn = Callable[[Page, User], None]
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}}
RIGHT_TO_LEFT = "\u202e"
HIDDEN = f"6 * 7 # {RIGHT_TO_LEFT}hidden\n"
SCRIPT = [
    {
        "say": "Thought: I reckon that, if I may.\nAction: calculator\n"
        'Action Input: {"expression": "6 * 7 # \\u202ehidden\\n"}'
    },
    {"say": "Thought: I know now.\nFinal Answer: Done."},
]


@pytest.fixture
def ada(person: Callable[..., User], sign_in: SignIn, page: Page) -> User:
    """Sign Ada in on the page, with a policy that asks before each sum."""
    policy = Policy.objects.create(slug="asking", name="Asking")
    choice = ModelChoice(provider="scripted", script=tuple(SCRIPT))
    spec = PolicySpec(
        policy="explicit", model=choice, tools=("calculator",), approve=("calculator",)
    )
    policy.publish(spec)
    ada = person("ada")
    sign_in(page, ada)
    return ada


@pytest.fixture
def card(page: Page, ada: User) -> Any:
    """Ask a question whose run comes to wait for Ada; give the card that asks her."""
    page.goto("/")
    ask(page, "What is 6 * 7?", "asking")
    card = page.get_by_role("region", name="Waiting for an answer: calculator")
    expect(card).to_be_visible()
    return card


def words(page: Page) -> Any:
    return page.locator(".run").last.locator(".run__words")


def test_a_question_outlives_reload_and_restart_and_is_answered_in_another_tab(
    page: Page, card: Any, stack: Any
) -> None:
    expect(words(page)).to_have_text("Waiting for you")
    page.reload()
    expect(card).to_be_visible()
    stack.restart_worker()
    stack.kill_web()
    stack.start()
    tab = page.context.new_page()
    tab.goto(page.url)

    tab.get_by_role("button", name="Allow once").click()

    for one in (tab, page):
        expect(one.locator(".run__answer")).to_contain_text("Done.")
        expect(one.get_by_role("region", name="Waiting for an answer")).to_have_count(0)
        expect(words(one)).to_contain_text("Answered in 2 steps")
    run = Run.objects.get()
    assert run.turns.get(index=0).actions[0].observation is not None
    assert run.approvals.get().status == "granted"


def test_what_is_allowed_is_shown_whole_and_nothing_in_it_is_hidden(card: Any) -> None:
    expect(card.locator(".approval__value")).to_have_text("6 * 7 # U+202Ehidden")
    card.get_by_text("As JSON").click()

    expect(card.locator("pre")).to_contain_text('"6 * 7 # \\u202ehidden\\n"')
    assert Approval.objects.get().inputs == {"expression": HIDDEN}


def test_a_refusal_with_a_word_is_what_the_agent_reads(page: Page, card: Any) -> None:
    card.get_by_label("A word to the agent if you refuse").fill("Do it in your head.")
    card.get_by_role("button", name="Refuse").click()

    expect(page.locator(".run__answer")).to_contain_text("Done.")
    page.locator(".run__status").click()
    turn = page.locator(".turn").first
    expect(turn.locator(".approval__answer")).to_contain_text("Refused by ada")
    expect(turn.locator(".turn__observation")).to_contain_text("Do it in your head.")


def test_a_word_that_is_being_written_outlives_what_comes_meanwhile(page: Page, card: Any) -> None:
    word = card.get_by_label("A word to the agent if you refuse")
    word.fill("No, bec")
    word.press("Escape")
    page.evaluate(
        "document.querySelector('.turn').replaceWith(document.querySelector('.turn').cloneNode(true))"
    )

    expect(word).to_have_value("No, bec")
    expect(words(page)).to_have_text("Waiting for you")


def cut_off(page: Page) -> None:
    """Let neither a socket nor a stream of events through to the page."""
    page.route("**/events/**", lambda route: route.abort())
    page.route_web_socket("**/ws/**", lambda socket: socket.close())
    page.reload()


def test_a_question_is_answered_without_a_live_line(page: Page, card: Any) -> None:
    cut_off(page)

    page.get_by_role("button", name="Allow once").click()

    expect(page.locator(".approval__form button:disabled")).to_have_count(2)
    page.unroute_all()
    page.reload()
    expect(page.locator(".run__answer")).to_contain_text("Done.")


def test_an_answer_that_cannot_be_sent_says_so_and_can_be_given_again(
    page: Page, card: Any
) -> None:
    cut_off(page)
    page.route("**/approvals/**", lambda route: route.abort())

    page.get_by_role("button", name="Allow once").click()

    expect(card.get_by_role("alert")).to_contain_text("there is no connection")
    expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
    assert Approval.objects.get().is_pending


def test_a_question_is_answered_without_scripts(
    page: Page, card: Any, window: Callable[..., Page]
) -> None:
    plain = window(java_script_enabled=False, storage_state=page.context.storage_state())
    plain.goto(page.url)

    plain.get_by_role("button", name="Allow once").click()

    expect(page.locator(".run__answer")).to_contain_text("Done.")


def test_the_transcript_lets_its_owner_answer(page: Page, card: Any) -> None:
    tab = page.context.new_page()
    tab.goto(f"/runs/{Run.objects.get().pk}/")

    tab.get_by_role("button", name="Allow once").click()

    expect(page.locator(".run__answer")).to_contain_text("Done.")


def test_a_fresh_installation_has_a_policy_that_asks_before_it_runs_code(
    page: Page, ada: User
) -> None:
    publish_seeds()
    page.goto("/")
    ask(page, "Run this Python: print(6 * 7)", "careful")
    card = page.get_by_role("region", name="Waiting for an answer: python_repl")
    expect(card.locator(".approval__value")).to_have_text("print(6 * 7)")

    card.get_by_role("button", name="Allow once").click()

    expect(page.locator(".run__answer")).to_contain_text("42")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_card_breaks_no_rule(
    page: Page, card: Any, scheme: Literal["light", "dark"], width: int
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()  # as somebody opens it whose screen is so; Chromium mends an open page bit by bit
    card.get_by_text("As JSON").click()
    found = Axe().run(page, options=RULES)
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert not found.violations_count, found.generate_report()
    assert wider <= 0
