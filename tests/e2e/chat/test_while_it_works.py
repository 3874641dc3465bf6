"""While a run works: its text comes, it is stopped, lost, watched twice, and heard."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from chat.models import Run, User
from tests.e2e.asking import ask, last_run, write

SLOW = [
    {
        "say": "Thought: I count slowly, one after the other.\n" + "tick " * 40,
        "rate": 8,
    },
    {"say": "Final Answer: Done."},
]


def test_text_comes_as_it_is_written_and_a_reload_loses_none(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    thought = last_run(page).locator(".turn__thought").first
    expect(thought).to_contain_text("tick tick tick")

    page.reload()

    expect(thought).to_contain_text("I count slowly")
    expect(thought).to_contain_text(re.compile("(tick ){20}"))
    assert "slowly, one after the other" in thought.inner_text()
    assert thought.inner_text().count("I count slowly") == 1


def test_stop_ends_the_run_and_keeps_what_was_said(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(last_run(page).locator(".turn__thought").first).to_contain_text("tick")

    page.get_by_role("button", name="Stop").click()

    expect(last_run(page).locator(".run__words")).to_contain_text("You stopped this")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    thought = last_run(page).locator(".turn__thought").first
    expect(last_run(page).get_by_text("Stopped here.")).to_be_attached()
    kept = thought.text_content() or ""
    page.reload()
    expect(thought).to_have_text(kept)
    assert Run.objects.get().status == "stopped"


def test_escape_stops_too(page: Page, ada: User, scripted: Callable[..., None]) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(last_run(page).locator(".turn__thought").first).to_contain_text("tick")

    page.keyboard.press("Escape")

    expect(last_run(page).locator(".run__words")).to_contain_text("You stopped this")


def test_while_the_agent_works_a_further_message_is_kept_and_not_sent(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()

    write(page, "And then?")

    expect(page.get_by_role("alert")).to_contain_text("still working")
    expect(page.get_by_label("Your message")).to_have_value("And then?")
    assert Run.objects.count() == 1


def test_the_line_lost_is_said_and_nothing_is_missed(
    page: Page, ada: User, stack: Any, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    expect(last_run(page).locator(".turn__thought").first).to_contain_text("tick")

    stack.kill_web()
    said = last_run(page).get_by_text("Connection lost")
    expect(said).to_be_visible()
    expect(last_run(page).get_by_text("Thinking")).to_be_hidden()
    stack.start()

    expect(said).to_be_hidden(timeout=30_000)
    expect(last_run(page).locator(".turn__thought").first).to_contain_text(
        re.compile("(tick ){39}"), timeout=30_000
    )
    # Its text, shown or not: the turns are folded when the run ends.
    thought = last_run(page).locator(".turn__thought").first.text_content()
    assert (thought or "").count("tick") == 40


def test_who_reads_further_up_is_not_carried_away(
    page: Page, ada: User, scripted: Callable[..., None], wait_for: Callable[..., None]
) -> None:
    page.set_viewport_size({"width": 800, "height": 500})
    lines = [{"say": "Thought: Long.\n" + "another line\n" * 60, "rate": 40}]
    scripted("long", [*lines, {"say": "Final Answer: Done."}])
    page.goto("/")
    ask(page, "Talk.", "long")
    expect(last_run(page).locator(".turn__thought").first).to_contain_text(
        re.compile("(another line\\s+){20}")
    )
    at_end = "scrollY + innerHeight > document.documentElement.scrollHeight - 5"
    wait_for(lambda: page.evaluate(at_end), "the page's end")

    page.evaluate("scrollTo(0, 0)")
    offer = page.get_by_role("button", name="New text below")
    expect(offer).to_be_visible()
    assert page.evaluate("scrollY") == 0
    offer.click()

    expect(offer).to_be_hidden()
    wait_for(lambda: page.evaluate(at_end), "the page's end")


def test_a_screen_reader_hears_the_states_and_not_each_word(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "Count.", "slow")
    status = page.locator("#status")

    expect(status).to_have_text("Thinking")
    expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    page.keyboard.press("Escape")

    expect(status).to_contain_text("You stopped this")
    assert "tick" not in status.inner_text()


def test_two_windows_show_the_same_run(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SLOW)
    page.goto("/")
    ask(page, "What is 1 + 1?")
    expect(last_run(page).locator(".run__answer")).to_contain_text("2")
    second = page.context.new_page()
    second.goto(page.url)

    ask(page, "Count.", "slow")

    expect(second.locator(".run")).to_have_count(2)
    expect(second.locator(".run").last.locator(".turn__thought").first).to_contain_text("tick")
    second.get_by_role("button", name="Stop").click()
    expect(last_run(page).locator(".run__words")).to_contain_text("You stopped this")
