"""A conversation in a real browser, against the real server and a real worker."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from chat.models import Run, User
from tests.e2e.asking import ask, last_run


def test_a_sum_is_asked_watched_and_answered(page: Page, ada: User) -> None:
    page.goto("/")

    ask(page, "What is 37 * 43 + 12?")

    run = last_run(page)
    expect(run.locator(".run__answer")).to_contain_text(re.compile("1,?603"))
    expect(run.locator(".run__words")).to_contain_text("Answered in")
    expect(page.get_by_role("heading", name="What is 37 * 43 + 12?").first).to_be_visible()
    run.get_by_role("link", name="Transcript").click()
    expect(page.locator(".turn__tool").first).to_have_text("calculator")


def test_a_second_question_needs_no_new_page(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "What is 2 + 2?")
    expect(last_run(page).locator(".run__answer")).to_contain_text("4")
    page.evaluate("window.stayed = true")

    ask(page, "What is 6 * 7?")

    expect(page.locator(".run")).to_have_count(2)
    expect(last_run(page).locator(".run__answer")).to_contain_text("42")
    expect(page.get_by_label("Your message")).to_have_value("")
    assert page.evaluate("window.stayed")


def test_every_example_is_answered(page: Page, ada: User) -> None:
    page.goto("/")
    questions = page.locator(".examples__question").evaluate_all("all => all.map(b => b.value)")

    for question in questions:
        page.goto("/")
        page.locator(".examples__question").filter(has_text=question).click()
        expect(last_run(page).locator(".run__words")).to_contain_text("Answered in")
        expect(last_run(page).locator(".run__answer")).not_to_be_empty()

    assert Run.objects.filter(status="succeeded", model="rule-based").count() == 4
    answers = " ".join(Run.objects.values_list("answer", flat=True))
    for part in ("603", "42.16", "[0, 1, 2, 4]", "298"):
        assert part in answers


def test_a_model_that_fails_says_why_where_it_happened(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("down", [{"fail": "refused", "message": "The key is not known here."}])
    page.goto("/")

    ask(page, "Hello?", "down")

    expect(last_run(page).locator(".run__outcome")).to_contain_text("The key is not known here.")
    expect(last_run(page).locator(".run__words")).to_contain_text("Could not answer")


def test_hostile_answers_do_nothing(page: Page, ada: User, scripted: Callable[..., None]) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    hostile = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> ![x](https://example.com/x.png)"
    )
    scripted("hostile", [{"say": f"Thought: {hostile}\nFinal Answer: {hostile} **end**"}])
    page.goto("/")

    ask(page, "Hello?", "hostile")

    expect(last_run(page).locator(".run__answer strong")).to_have_text("end")
    expect(last_run(page).locator(".run__words")).to_contain_text("Answered in")
    assert errors == []
    assert not [url for url in asked_for if "example.com" in url]
    assert page.locator(".run img, .run script").count() == 0


def test_a_draft_outlives_a_reload_and_goes_when_it_is_sent(page: Page, ada: User) -> None:
    page.goto("/")
    page.get_by_label("Your message").fill("What is 5 * 5?")

    page.reload()

    expect(page.get_by_label("Your message")).to_have_value("What is 5 * 5?")
    page.wait_for_load_state()
    page.get_by_label("Your message").press("Enter")
    expect(last_run(page).locator(".run__answer")).to_contain_text("25")
    page.goto("/")
    expect(page.get_by_label("Your message")).to_have_value("")


def test_shift_enter_makes_a_line_and_composing_sends_nothing(page: Page, ada: User) -> None:
    page.goto("/")
    message = page.get_by_label("Your message")
    message.fill("one")

    message.press("Shift+Enter")
    message.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "keyCode": 229})

    expect(message).to_have_value("one\n")
    assert not Run.objects.exists()


def test_without_scripts_a_question_is_asked_and_read(
    page: Page, ada: User, window: Callable[..., Page], stack: Any, wait_for: Callable[..., None]
) -> None:
    state = page.context.storage_state()
    plain = window(java_script_enabled=False, base_url=stack.url, storage_state=state)
    plain.goto("/")

    plain.get_by_label("Your message").fill("What is 8 * 8?")
    plain.get_by_role("button", name="Send").click()
    wait_for(lambda: Run.objects.filter(status="succeeded").exists(), "the answer")
    plain.reload()

    expect(plain.locator(".run__answer")).to_contain_text("64")
    plain.locator(".run__status").click()
    expect(plain.locator(".turn__tool")).to_have_text("calculator")


def test_a_conversation_is_renamed_and_deleted(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "What is 2 + 2?")
    expect(last_run(page)).to_have_attribute("data-status", "succeeded")

    page.locator("summary[title=Conversation]").click()
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Title").fill("Small sums")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Small sums")).to_be_visible()
    page.locator("summary[title=Conversation]").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()

    expect(page.get_by_text("Deleted “Small sums”.")).to_be_visible()
    assert not Run.objects.exists()


def test_a_question_is_asked_again_under_another_policy(page: Page, ada: User) -> None:
    page.goto("/")
    ask(page, "What is 2 + 2?", "explicit")
    expect(last_run(page).locator(".run__words")).to_contain_text("Answered in")

    page.get_by_role("link", name="Try another policy").click()
    page.get_by_role("dialog").get_by_text("Implicit ReAct").click()
    page.get_by_role("button", name="Ask again").click()

    expect(page.get_by_text("Implicit ReAct v1").first).to_be_visible()
    again = Run.objects.latest("pk")
    assert again.again_of == Run.objects.earliest("pk")
    assert again.policy_version.policy.slug == "implicit"


def test_the_question_mark_lists_the_shortcuts(page: Page, ada: User) -> None:
    page.goto("/accounts/password/change/")
    page.get_by_role("heading", name="Change password").click()

    page.keyboard.press("?")

    expect(page.get_by_role("dialog")).to_contain_text("Next and previous turn")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
