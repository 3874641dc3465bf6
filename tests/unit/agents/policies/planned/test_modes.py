"""A mode of the policy planned chooses the tools, when to plan, and whether to look."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.contracts import Image
from agents.tools.ask_user import ask_user
from agents.tools.spec import Safety, tool
from tests.unit.agents.policies.planned.replies import DONE, asked, goals, purposes, step
from tests.unit.agents.policies.planned.watched import Watched

Play = Callable[..., Any]

LONG = "Collect all prices and compare them"


@tool(reaches_out=True, safety=Safety.MODERATE)
def visit(at: int) -> Iterator[str | Image]:
    """Visit a place."""
    yield f"place {at}"
    yield Image(media_type="image/png", data="AAAA")


@tool()
def reckon(left: int) -> str:
    """Reckon."""
    return str(left + 1)


@tool(safety=Safety.SENSITIVE)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


TOOLS = (visit, reckon, pay, ask_user)


@pytest.mark.parametrize(
    ("mode", "offered"),
    [
        ("auto", {"visit", "reckon", "pay", "ask_user"}),
        ("execute", {"visit", "reckon", "pay", "ask_user"}),
        ("navigate", {"visit", "ask_user"}),
        ("scrape", {"visit", "reckon", "ask_user"}),
        ("research", {"visit", "reckon", "ask_user"}),
    ],
)
def test_a_mode_offers_the_tools_that_fit_it(play: Play, mode: str, offered: set[str]) -> None:
    told = asked(play(DONE, tools=TOOLS, settings={"mode": mode}), 0)

    assert {one.name for one in TOOLS if f"- {one.name}:" in told} == offered


def test_a_tool_that_a_mode_leaves_out_cannot_be_called(play: Play) -> None:
    played = play(step("reckon", left=5), DONE, tools=TOOLS, settings={"mode": "navigate"})

    assert played.state.turns[0].last_observation.error == "ToolNotFound"


def test_a_mode_that_fits_none_of_the_tools_leaves_them_all(play: Play) -> None:
    told = asked(play(DONE, tools=(reckon, ask_user), settings={"mode": "navigate"}), 0)

    assert "- reckon:" in told


@pytest.mark.parametrize(
    ("mode", "planning", "is_planned"),
    [
        ("auto", "auto", True),
        ("research", "auto", True),
        ("scrape", "auto", True),
        ("navigate", "auto", False),
        ("execute", "auto", False),
        ("execute", "always", True),
        ("research", "never", False),
    ],
)
def test_a_mode_says_whether_a_long_task_is_planned_first(
    play: Play, mode: str, planning: str, is_planned: bool
) -> None:
    script = (goals("one"), DONE) if is_planned else (DONE,)
    played = play(*script, planning=planning, settings={"mode": mode}, goal=LONG)

    assert ("plan_goals" in purposes(played)) is is_planned


@tool()
def browser_screenshot() -> Iterator[str | Image]:
    """Take a picture of the page."""
    yield "a picture"
    yield Image(media_type="image/png", data="BBBB")


@pytest.mark.parametrize(
    ("mode", "shown"),
    [("auto", ["AAAA", "BBBB"]), ("research", ["BBBB"]), ("scrape", ["AAAA", "BBBB"])],
)
def test_a_mode_that_reads_is_shown_the_pictures_it_asks_for_alone(
    play: Play, mode: str, shown: list[str]
) -> None:
    model = Watched(step("visit", at=1), step("browser_screenshot"), DONE)
    tools = (visit, browser_screenshot)

    play(provider=model, tools=tools, settings={"mode": mode, "vision": True})

    assert [data for pictures in model.shown for data in pictures] == shown
