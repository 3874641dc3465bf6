"""What a page says of a run is true, also when a part of Turnstone is gone; and text stays."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy, Run, User
from tests.e2e.asking import ask, write

SignIn = Callable[[Page, User], None]
THOUGHT = "Thought: " + "tick " * 60
ANSWER = {"say": "Thought: I know.\nFinal Answer: " + "word " * 120, "rate": 10}
WATCH_TEXT = """
window.shrinks = []
const most = {}
function look() {
  for (const part of [".run__answer", ".turn__thought"]) {
    const length = document.querySelector(part)?.textContent.trim().length ?? 0
    if (length < (most[part] ?? 0) - 1) shrinks.push([part, most[part], length])
    most[part] = Math.max(most[part] ?? 0, length)
  }
  requestAnimationFrame(() => setTimeout(look))
}
look()
"""


@pytest.fixture
def told(page: Page, person: Callable[..., User], sign_in: SignIn) -> Callable[..., Page]:
    """Ask Ada's question of a model that says what it is told, and give the page."""

    def ask_it(*script: dict[str, Any]) -> Page:
        sign_in(page, person("ada"))
        model = ModelChoice(provider="scripted", script=script)
        spec = PolicySpec(policy="explicit", model=model, tools=("calculator",))
        Policy.objects.create(slug="told", name="Told").publish(spec)
        page.goto("/")
        ask(page, "Count.", "told")
        return page

    return ask_it


def words(page: Page) -> Any:
    return page.locator(".run").last.locator(".run__words")


@pytest.mark.parametrize(
    ("reply", "part"),
    [(ANSWER, ".run__answer"), ({"say": THOUGHT, "rate": 10}, ".turn__thought")],
)
def test_a_run_whose_worker_died_is_interrupted_and_its_text_stays_until_it_is_written_anew(
    told: Callable[..., Page], stack: Any, reply: dict[str, Any], part: str
) -> None:
    page = told(reply, ANSWER)
    expect(page.locator(part).first).to_contain_text("w" if part == ".run__answer" else "tick tick")
    page.evaluate(WATCH_TEXT)
    stack.kill_worker()

    expect(words(page)).to_have_text("Interrupted; it will go on", timeout=60_000)
    stack.start()
    expect(page.locator(f"{part}.outdated")).to_be_visible(timeout=60_000)

    expect(words(page)).to_contain_text("Answered in", timeout=90_000)
    assert page.evaluate("shrinks") == []
    assert page.locator(".outdated").count() == 0
    assert Run.objects.get().attempt == 2


def test_the_rail_of_another_tab_notices_that_a_run_ended(told: Callable[..., Page]) -> None:
    page = told({"say": "Thought: " + "tick " * 400, "rate": 20})
    expect(words(page)).to_have_text("Thinking")
    other = page.context.new_page()
    other.goto("/")
    expect(other.get_by_text("working")).to_have_count(1)

    page.bring_to_front()
    page.keyboard.press("Escape")
    expect(words(page)).to_contain_text("You stopped this")
    other.bring_to_front()

    expect(other.locator(".rail__live:visible")).to_have_count(0)


def test_that_the_agent_still_works_is_said_no_longer_than_it_does(
    told: Callable[..., Page],
) -> None:
    page = told({"say": "Thought: " + "tick " * 400, "rate": 20})
    expect(words(page)).to_have_text("Thinking")
    write(page, "And then?")
    expect(page.get_by_role("alert")).to_contain_text("still working")

    page.keyboard.press("Escape")

    expect(words(page)).to_contain_text("You stopped this")
    expect(page.locator("#composer-error")).to_be_empty()
    expect(page.get_by_label("Your message")).to_have_value("And then?")


def test_a_stop_without_a_line_goes_out_when_there_is_one(
    told: Callable[..., Page], stack: Any
) -> None:
    page = told({"say": "Thought: " + "tick " * 4000, "rate": 20})
    expect(words(page)).to_have_text("Thinking")
    stack.kill_web()
    expect(page.get_by_text("Connection lost")).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.locator("#connection")).to_contain_text("The run will be stopped then.")
    expect(page.get_by_role("status").and_(page.locator("#status"))).to_contain_text(
        "The run will be stopped then."
    )
    assert Run.objects.get().status == "running"
    stack.start()

    expect(words(page)).to_contain_text("You stopped this", timeout=60_000)


def test_a_run_folds_when_its_answer_begins_and_the_answer_stays_where_it_is(
    told: Callable[..., Page],
) -> None:
    compute = 'Thought: So.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
    page = told({"say": compute, "rate": 20}, ANSWER)
    answer = page.locator(".run__answer")
    expect(page.locator(".turn").first).to_be_visible()
    expect(answer).to_contain_text("word word")
    top = "document.querySelector('.run__answer').getBoundingClientRect().top + scrollY"
    first = page.evaluate(top)

    expect(words(page)).to_contain_text("Answered in 2 steps", timeout=30_000)

    assert page.evaluate(top) == first
    expect(page.locator(".turn").first).to_be_hidden()
    page.reload()
    expect(answer).to_contain_text("word word")
    assert page.evaluate(top) == first


def test_turns_that_somebody_unfolded_stay_unfolded(told: Callable[..., Page]) -> None:
    compute = 'Thought: So.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
    page = told({"say": compute, "rate": 20}, ANSWER)
    expect(page.locator(".run__answer")).to_contain_text("word word")

    page.locator(".run__status").click()

    expect(words(page)).to_contain_text("Answered in 2 steps", timeout=30_000)
    expect(page.locator(".turn").first).to_be_visible()
