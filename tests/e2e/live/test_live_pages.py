"""What a page says of its run and of its line, in a real browser on the real product."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from playwright.sync_api import Page, Route, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Policy, Run, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop
from chat.stream.frames import run_created
from chat.stream.render import render_run
from tests.e2e.asking import ask as ask_at

COMPUTE = 'Thought: I compute.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
SLOW = {"say": "Thought: " + "tick " * 40 + f"\n{COMPUTE.partition(': ')[2]}", "rate": 15}
LAST = {"say": "Thought: I know.\nFinal Answer: It is four.", "rate": 15}
NO_SOCKETS = """
window.WebSocket = class {
  static OPEN = 1
  readyState = 3
  constructor() { setTimeout(() => this.onclose?.({ code: 1006 })) }
  close() {}
}
"""


@pytest.fixture
def ada(page: Page, person: Callable[..., User], sign_in: Callable[..., None]) -> User:
    """Sign Ada in on the page."""
    user = person("ada")
    sign_in(page, user)
    return user


@pytest.fixture
def asked(stack: Any, ada: User) -> Callable[..., Run]:
    """Ask a question of a scripted policy in a new conversation of Ada's."""

    def ask_it(*script: dict[str, Any]) -> Run:
        policy = Policy.objects.create(slug="told", name="Told")
        model = ModelChoice(provider="scripted", script=script)
        spec = PolicySpec(policy="explicit", model=model, tools=("calculator",))
        conversation = Conversation.objects.create(owner=ada)
        return ask(
            conversation,
            "What is 2 + 2?",
            policy_version=policy.publish(spec),
            client_message_id=uuid.uuid4(),
        )

    return ask_it


def test_a_transcript_grows_while_its_run_works_and_is_whole_at_its_end(
    page: Page, asked: Callable[..., Run]
) -> None:
    run = asked(SLOW, LAST)
    page.goto(f"/runs/{run.pk}/")
    thought = page.locator(".transcript__turns .turn__thought").first
    expect(thought).to_contain_text("tick tick")
    expect(page.get_by_role("status")).to_have_text("Thinking")
    expect(page.locator(".transcript__turns > .turn")).to_have_count(2, timeout=30_000)
    expect(page.locator(".facts__status")).to_contain_text("Answered in 2 steps", timeout=30_000)

    expect(page.locator("#answer .run__answer")).to_have_text("It is four.")
    expect(page.locator(".outline__row")).to_have_count(3)
    expect(page.get_by_role("status")).to_have_count(0)
    assert thought.inner_text().count("tick") == 40


def test_outline_and_calls_grow_with_the_turns_that_are_followed(
    page: Page, asked: Callable[..., Run]
) -> None:
    slow = SLOW | {"rate": 60}
    run = asked(slow, slow, {"hang": True, "after": "Thought: I have an idea"})
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator(".transcript__turns > .turn")).to_have_count(3, timeout=30_000)

    rows = page.locator(".outline__row")
    expect(rows.locator(".outline__number")).to_have_text(["1", "2"])
    expect(rows.locator(".outline__label")).to_have_text(["calculator", "calculator"])
    calls = page.locator(".transcript__turns .calls")
    expect(calls).to_have_count(2)
    calls.first.locator(".call__summary").click()
    expect(calls.first.get_by_role("heading", name="Reply")).to_be_visible()
    scales = rows.locator("svg").evaluate_all("all => all.map((svg) => svg.viewBox.baseVal.width)")
    assert len(set(scales)) == 1
    expect(page.locator(".facts__status")).to_have_text("Thinking")


def test_a_page_without_sockets_follows_asks_and_stops_all_the_same(
    page: Page, asked: Callable[..., Run]
) -> None:
    page.add_init_script(NO_SOCKETS)
    run = asked({"say": "Thought: I know.\nFinal Answer: four"})
    with page.expect_request(re.compile("/events/")):
        page.goto(f"/conversations/{run.conversation_id}/")
    expect(page.locator(".run__answer")).to_have_text("four", timeout=30_000)
    Policy.objects.get(slug="told").publish(
        PolicySpec(policy="explicit", model=ModelChoice(provider="scripted", script=(SLOW, LAST)))
    )
    ask_at(page, "And slowly?")
    second = page.locator(".run").nth(1)
    expect(second.locator(".turn__thought").first).to_contain_text("tick tick", timeout=30_000)
    page.get_by_role("button", name="Stop").click()

    expect(second.locator(".run__status")).to_contain_text("You stopped this", timeout=30_000)


def test_a_page_without_sockets_shows_the_end_of_its_question_also_where_no_stream_told_of_it(
    page: Page, stack: Any, asked: Callable[..., Run]
) -> None:
    stack.kill_worker()
    before = asked()
    request_stop(before)

    def answer(route: Route) -> None:
        """Store the question as a process does that answers, and cannot tell anybody else."""
        message: Any = route.request.post_data_json
        with transaction.atomic():
            run = ask(
                before.conversation,
                message["text"],
                policy_version=before.policy_version,
                client_message_id=message["client_message_id"],
            )
            connection.run_on_commit.clear()
        created = run_created(run.pk, run.client_message_id, render_run(run))
        route.fulfill(body=f"[{created}]", content_type="application/json")

    page.add_init_script(NO_SOCKETS)
    with page.expect_request(re.compile("/events/")):
        page.goto(f"/conversations/{before.conversation_id}/")
    page.route("**/frames/", answer)
    page.get_by_label("Your message").fill("And this?")
    page.get_by_label("Your message").press("Enter")
    second = page.locator(".run").nth(1)
    expect(second).to_have_attribute("data-status", "queued")
    request_stop(before.conversation.runs.latest("pk"))

    expect(second.locator(".run__status")).to_contain_text("You stopped this", timeout=20_000)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_run_that_waits_or_was_let_go_of_says_so(
    page: Page, stack: Any, asked: Callable[..., Run]
) -> None:
    stack.kill_worker()
    run = asked(SLOW, LAST)
    page.goto(f"/conversations/{run.conversation_id}/")
    status = page.locator(".run__status")
    expect(status).to_contain_text("Next in line")
    stack.start()
    expect(status).to_contain_text("Thinking", timeout=30_000)
    expect(page.locator(".turn__thought").first).to_contain_text("tick tick", timeout=30_000)
    stack.stop_worker()
    expect(status).to_contain_text("Interrupted; it goes on")
    expect(page.locator(".run")).to_have_attribute("data-status", "interrupted")
    expect(status).to_contain_text("Interrupted; it goes on next")
    stack.start()

    expect(page.locator(".run__answer")).to_have_text("It is four.", timeout=40_000)
