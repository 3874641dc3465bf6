"""Reading a stored run in the browser."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from chat.models import Conversation, Policy, Run, Turn, User
from tests.e2e.asking import ask
from tests.stored_turns import store_turn

INSIDE = """number => {
  const range = document.createRange()
  range.selectNodeContents(number)
  const { left } = range.getBoundingClientRect()
  return left >= number.closest(".turn").getBoundingClientRect().left
}"""
COVERED = """turn => {
  const figures = turn.querySelector(".turn__figures").getBoundingClientRect()
  const texts = [...turn.querySelectorAll(".turn__thought, .turn__call, .turn__observation")]
  const boxes = texts.flatMap((text) => {
    const range = document.createRange()
    range.selectNodeContents(text)
    return [...range.getClientRects()]
  })
  return boxes.filter((box) => box.right > figures.left && box.left < figures.right
    && box.bottom > figures.top && box.top < figures.bottom)
}"""


@pytest.fixture
def long_run(ada: User) -> Run:
    """Store a run of Ada's with 130 turns."""
    now = timezone.now()
    run = Run.objects.create(
        conversation=Conversation.objects.create(owner=ada, title="Long"),
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
        question="Count.",
        status="succeeded",
        answer="Counted.",
        started_at=now,
        ended_at=now + timedelta(seconds=130),
    )
    for index in range(130):
        store_turn(
            run,
            index,
            status="complete",
            thought=f"I count {index + 1}.",
            tool="calculator",
            inputs={"expression": f"{index} + 1"},
            observation="a line of output\n" * (6000 if index == 2 else 3),
            started_at=now + timedelta(seconds=index),
            ended_at=now + timedelta(seconds=index + 1),
        )
    return run


def test_a_run_is_read_with_every_call_to_the_model(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "What is 37 * 43 + 12?")
    expect(page.locator(".run__words")).to_contain_text("Answered in")
    page.get_by_role("link", name="Transcript").click()

    page.locator(".call__summary").first.click()

    call = page.locator(".call").first
    expect(call).to_contain_text("Reply")
    expect(call.locator(".model-call__role").first).to_be_visible()
    expect(call).to_contain_text("37 * 43 + 12")
    call.get_by_text("Exactly as it was posted").click()
    expect(call.locator(".model-call__raw")).to_contain_text('"messages"')


def test_a_call_that_is_opened_before_the_scripts_are_there_is_read_too(
    page: Page, ada: User
) -> None:
    page.goto("/")
    ask(page, "What is 37 * 43 + 12?")
    expect(page.locator(".run__words")).to_contain_text("Answered in")
    address = page.get_by_role("link", name="Transcript").get_attribute("href")
    late: list[Route] = []
    page.route("**/htmx*.js", lambda script: late.append(script))
    page.goto(str(address), wait_until="commit")

    page.locator(".call__summary").first.click()
    expect(page.locator(".call").first.get_by_text("Request and reply")).to_be_visible()
    for script in late:
        script.continue_()

    expect(page.locator(".call").first).to_contain_text("37 * 43 + 12")


def test_j_and_k_go_from_turn_to_turn(page: Page, long_run: Run) -> None:
    page.goto(f"/runs/{long_run.pk}/")

    page.locator("body").press("j")
    expect(page).to_have_url(re.compile(f"#run-{long_run.pk}-turn-1$"))
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(f"#run-{long_run.pk}-turn-2$"))
    page.keyboard.press("k")

    expect(page).to_have_url(re.compile(f"#run-{long_run.pk}-turn-1$"))


def test_a_link_to_any_turn_opens_at_it(page: Page, long_run: Run) -> None:
    page.goto(f"/runs/{long_run.pk}/#run-{long_run.pk}-turn-120")

    turn = page.locator(f"#run-{long_run.pk}-turn-120")

    expect(turn).to_be_in_viewport()
    expect(turn).to_contain_text("I count 120.")


def test_a_long_observation_is_fetched_when_asked_for(page: Page, long_run: Run) -> None:
    page.goto(f"/runs/{long_run.pk}/")
    observation = page.locator(f"#run-{long_run.pk}-turn-3 .turn__observation")
    expect(observation).to_contain_text("Show more of 102,000 characters")

    observation.get_by_role("link").click()

    expect(observation.locator(".text--whole")).to_be_visible()
    observation.get_by_role("link", name="Show the next 1,").click()
    expect(observation.get_by_role("link")).to_have_count(0)
    assert len(observation.inner_text()) > 100_000


def test_the_page_of_a_long_run_is_light(page: Page, long_run: Run) -> None:
    page.goto(f"/runs/{long_run.pk}/")

    assert page.evaluate("document.documentElement.outerHTML.length") < 1_000_000
    assert page.evaluate("document.querySelectorAll('*').length") < 8_000


def test_a_number_of_four_digits_is_seen_whole(page: Page, long_run: Run) -> None:
    now = timezone.now()
    done = {"attempt": 1, "status": "complete", "kind": "thought", "thought": "Hm."}
    Turn.objects.bulk_create(
        Turn(run=long_run, index=index, started_at=now, ended_at=now, **done)
        for index in range(130, 1_000)
    )
    page.goto(f"/runs/{long_run.pk}/?turn=1000")

    number = page.locator(f"#run-{long_run.pk}-turn-1000 .turn__number")

    expect(number).to_contain_text("1000")
    assert number.evaluate("element => element.scrollWidth <= element.clientWidth")
    assert number.locator(".turn__mark").evaluate("mark => mark.getBoundingClientRect().width") >= 8
    assert number.evaluate(INSIDE)


def test_an_open_call_pushes_no_turn_away_and_is_closed_again(page: Page, ada: User) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    page.get_by_label("Your message").fill("What is 37 * 43 + 12?")
    page.get_by_label("Your message").press("Enter")
    expect(page.locator(".run__words")).to_contain_text("Answered")
    page.get_by_role("link", name="Transcript").click()
    page.wait_for_load_state()
    second = page.locator(".transcript__turns > .turn").nth(1)
    before = second.bounding_box()

    call = page.locator(".call").first
    call.locator(".call__summary").click()
    opened = call.get_by_role("region")

    expect(opened.get_by_role("heading", name="Reply")).to_be_visible()
    assert second.bounding_box() == before
    assert opened.evaluate("element => element.clientWidth") > 700
    page.keyboard.press("Escape")
    expect(opened).to_be_hidden()
    expect(call.locator(".call__summary")).to_be_focused()
    call.locator(".call__summary").click()
    opened.get_by_role("button", name="Close").click()
    expect(opened).to_be_hidden()


@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_time_of_a_turn_covers_no_text(page: Page, long_run: Run, media: Any) -> None:
    long_run.turns.filter(index__gt=3).delete()
    long_run.turns.update(thought="The words of a thought that fills its line, and more. " * 9)
    page.goto(long_run.conversation.get_absolute_url())
    page.locator(".run__status").click()
    page.emulate_media(media=media)
    turn = page.locator(".turn").first
    turn.hover()
    expect(turn.locator(".turn__figures")).to_have_css("opacity", "1")

    assert turn.evaluate(COVERED) == []


def test_single_keys_can_be_turned_off(page: Page, long_run: Run) -> None:
    page.goto(f"/runs/{long_run.pk}/")
    page.locator("body").press("?")
    page.get_by_label("Turn single-key shortcuts off").check()
    page.get_by_role("button", name="Close").click()
    before = page.url

    page.locator("body").press("j")

    assert page.url == before
