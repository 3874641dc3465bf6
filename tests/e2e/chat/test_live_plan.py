"""The plan beside the turns: its goals are ticked while the run works, and stay so."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from chat.models import User
from tests.e2e.asking import ask, last_run

PLAN = {
    "phases": [
        {"name": "Look", "goals": ["Find the shops that sell lamps", "Note each one's price"]},
        {"name": "Tell", "goals": ["Compare the prices and name the best"]},
    ]
}


def step(tool: str, **parameters: Any) -> str:
    return json.dumps({"thought": "so", "action": {"tool": tool, "parameters": parameters}})


SCRIPT = [
    {"say": json.dumps(PLAN)},
    {"say": step("complete", result="three shops")},
    {"say": json.dumps({"thought": "tick " * 80, "action": "complete"}), "rate": 8},
]


def test_goals_are_ticked_while_the_run_works_and_after_a_reload(
    page: Page, ada: User, scripted: Callable[..., None], complaints: list[str]
) -> None:
    scripted("slow", SCRIPT, policy="planned", settings={"planning": "always"})
    page.goto("/")
    ask(page, "Compare the lamps.", "slow")
    plan = last_run(page).locator(".plan")

    for _ in range(2):
        expect(plan).to_contain_text("1 of 3 goals reached")
        now = plan.locator("[aria-current=step]")
        expect(now).to_contain_text("Note each one's price")
        expect(plan).to_have_count(1)
        page.reload()
    assert complaints == []


def test_a_transcript_that_is_read_meanwhile_has_the_plan_too(
    page: Page, ada: User, scripted: Callable[..., None]
) -> None:
    scripted("slow", SCRIPT, policy="planned", settings={"planning": "always"})
    page.goto("/")
    ask(page, "Compare the lamps.", "slow")
    expect(last_run(page).locator(".plan")).to_contain_text("1 of 3")

    last_run(page).get_by_role("link", name="Transcript").click()

    expect(page.locator(".plan")).to_have_count(1)
    expect(page.locator(".plan .goal--reached")).to_have_count(1)
