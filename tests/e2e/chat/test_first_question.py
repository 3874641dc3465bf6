"""The first question of a conversation: sent once, however hard one tries, and never lost."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from chat.models import Conversation, Run, User
from tests.e2e.asking import write

TWICE = """
const form = document.getElementById("composer")
form.requestSubmit()
form.requestSubmit()
"""
DROP = """(kind) => {
  const data = new DataTransfer()
  data.items.add(new File(["x"], "x.png", { type: "image/png" }))
  const target = document.getElementById("question")
  const fields = { bubbles: true, cancelable: true }
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: data, ...fields })
    : new DragEvent("drop", { dataTransfer: data, ...fields })
  return target.dispatchEvent(event)
}"""


def test_a_first_question_sent_by_two_quick_enters_is_one_conversation(
    page: Page, ada: User
) -> None:
    page.goto("/")
    page.wait_for_load_state()
    page.get_by_label("Your message").fill("What is 2 + 2?")

    page.evaluate(TWICE)

    expect(page.locator(".run__answer")).to_contain_text("4")
    assert (Conversation.objects.count(), Run.objects.count()) == (1, 1)


def test_a_first_question_without_a_server_stays_and_goes_when_it_is_back(
    page: Page, ada: User, stack: Any
) -> None:
    page.goto("/")
    page.wait_for_load_state()
    stack.kill_web()
    write(page, "What is 2 + 3?")
    expect(page.get_by_role("alert")).to_contain_text("Your message is kept")
    expect(page.get_by_label("Your message")).to_have_value("What is 2 + 3?")

    stack.start()

    expect(page.locator(".run__answer")).to_contain_text("5", timeout=40_000)
    assert Run.objects.count() == 1


def test_a_first_question_asked_offline_keeps_the_page_and_goes_by_itself(
    page: Page, ada: User
) -> None:
    page.goto("/")
    page.wait_for_load_state()
    page.context.set_offline(True)

    page.locator(".examples__question").first.click()
    expect(page.get_by_role("alert")).to_have_text(
        "You are offline. It will be sent when you are back."
    )
    page.context.set_offline(False)

    expect(page.locator(".run__answer")).to_contain_text("603", timeout=30_000)


def test_a_first_question_that_is_refused_stays_with_the_words_why(page: Page, ada: User) -> None:
    page.goto("/")

    write(page, "x" * 100_001)

    expect(page.get_by_role("alert")).to_contain_text("100,001 characters")
    expect(page.get_by_label("Your message")).to_be_editable()
    assert not Conversation.objects.exists()


def test_the_policy_is_remembered_over_a_reload_and_in_a_new_conversation(
    page: Page, ada: User
) -> None:
    page.goto("/")
    policy = page.get_by_label("Policy", exact=True)
    page.wait_for_load_state()
    policy.select_option("implicit")
    page.reload()
    expect(policy).to_have_value("implicit")
    write(page, "What is 2 + 2?")
    expect(page.locator(".run__answer")).to_contain_text("4")

    page.goto("/")

    expect(policy).to_have_value("implicit")


@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_a_file_that_is_pasted_or_dropped_is_said_not_to_be_taken(
    page: Page, ada: User, kind: str
) -> None:
    page.goto("/")
    page.wait_for_load_state()

    page.evaluate(DROP, kind)

    expect(page.get_by_role("alert")).to_contain_text("Files cannot be attached yet")
