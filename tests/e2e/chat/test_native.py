"""Calls that a model makes natively, in the page: as actions, several at once, and the answer."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy, User
from tests.e2e.asking import ask, last_run
from tests.e2e.conftest import Stack
from tests.worker_stage import slow_tools


@pytest.fixture
def natively(ada: User) -> Callable[..., None]:
    """Offer a native policy whose model says what it is told: `natively([{"say": "…"}])`."""

    def offer(script: list[dict[str, Any]], *tools: str) -> None:
        choice = ModelChoice(provider="scripted", script=tuple(script))
        policy = Policy.objects.create(slug="calling", name="Calling")
        policy.publish(PolicySpec(policy="native", model=choice, tools=tools))

    return offer


@pytest.fixture
def looking(stack_with: Callable[..., Stack], tmp_path: Path) -> Stack:
    """Give the product with a tool that looks for as long as it is told."""
    served = {"command": sys.executable, "args": [slow_tools.__file__, str(tmp_path / "calls")]}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"slow": served | {"reaches_out": False}}}))
    return stack_with(TURNSTONE_MCP=str(file))


def calls(tool: str, *inputs: dict[str, Any], say: str = "") -> dict[str, Any]:
    return {"say": say, "calls": [{"tool": tool, "inputs": one} for one in inputs]}


def actions(turn: Locator) -> Locator:
    return turn.locator(".turn__action")


def test_calls_are_actions_with_what_came_back_and_prose_is_the_answer(
    page: Page, natively: Callable[..., None]
) -> None:
    two = ({"expression": "6 * 7"}, {"expression": "6 *"})
    script = [
        calls("calculator", *two, say="I calculate both."),
        calls("calculator", {"expression": "6 * 8"}),
        {"say": "They are **42** and 48."},
    ]
    natively(script, "calculator")
    page.goto("/")

    ask(page, "What are 6 * 7 and 6 * 8?", "Calling")

    run = last_run(page)
    expect(run.locator(".run__answer strong")).to_have_text("42")
    expect(run.locator(".run__words")).to_contain_text("Answered in 3 steps")
    expect(run.locator(".run__made-by")).to_have_text("Calling v1 · scripted")
    for _ in ("as it came", "as it is stored"):
        if run.locator(".run__work").get_attribute("open") is None:
            run.locator(".run__status").click()
        first, second, last = (run.locator(".turn").nth(index) for index in range(3))
        expect(first.locator(".turn__thought")).to_have_text("I calculate both.")
        expect(actions(first).locator(".turn__tool")).to_have_text(["calculator", "calculator"])
        expect(actions(first).locator("dd")).to_have_text(["6 * 7", "6 *"])
        expect(actions(first).first.locator(".turn__observation")).to_have_text("42")
        expect(actions(first).nth(1).locator(".turn__error")).to_be_visible()
        expect(actions(second).locator(".turn__observation")).to_have_text("48")
        expect(actions(last)).to_have_count(0)
        page.reload()


def test_calls_at_once_are_shown_each_as_it_ends(
    looking: Stack, window: Callable[..., Page], natively: Callable[..., None], sign_in: Any
) -> None:
    natively([calls("slow__look", *({"seconds": n} for n in (600, 0, 601)))], "slow__*")
    page = window(base_url=looking.url, viewport={"width": 1280, "height": 800})
    sign_in(page, User.objects.get())
    page.goto("/")

    ask(page, "What is there to see?", "Calling")

    turn = last_run(page).locator(".turn")
    for _ in ("as it came", "as it is stored"):
        expect(actions(turn)).to_have_count(3)
        expect(actions(turn).nth(1).locator(".turn__observation")).to_have_text("looked 0")
        expect(turn.get_by_text("looked")).to_have_count(1)
        expect(actions(turn).nth(2)).to_contain_text("Nothing came back yet.")
        expect(turn.get_by_text("Comes next")).to_have_count(0)
        page.reload()

    page.get_by_role("button", name="Stop").click()

    expect(last_run(page).locator(".run__words")).to_contain_text("You stopped this")
    expect(turn.get_by_text("Stopped here.")).to_be_attached()
    expect(turn.get_by_text("looked 0")).to_have_count(1)
    for untrue in ("Not run.", "Nothing came back yet."):
        expect(turn.get_by_text(untrue)).to_have_count(0)
