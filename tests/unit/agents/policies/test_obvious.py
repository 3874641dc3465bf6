"""An obvious task is begun without a model, and only such a one."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import ToolCall
from agents.think.shortcut import opens_a_page
from agents.tools.spec import tool

DONE = '{"thought": "t", "action": {"tool": "complete", "parameters": {"result": "It is up."}}}'
PAGE = "https://example.org/a?b=c"


@tool()
def browser_goto(url: str) -> str:
    """Open a page."""
    return f"opened {url}"


@pytest.mark.parametrize(
    "task",
    [
        f"Open {PAGE}",
        f"go to {PAGE}.",
        f"Please visit the page {PAGE}!",
        f"  navigate to the website {PAGE}\n",
    ],
)
def test_a_task_that_names_a_page_to_open_is_a_call(task: str) -> None:
    assert opens_a_page(task) == ToolCall(tool="browser_goto", inputs={"url": PAGE})


@pytest.mark.parametrize(
    "task",
    [
        f"Open {PAGE} and find the price",
        f"Do not open {PAGE}",
        "open the door",
        "open example.org",
        "open file:///etc/passwd",
        f"What is on {PAGE}?",
        "",
    ],
)
def test_any_other_task_is_thought_about(task: str) -> None:
    assert opens_a_page(task) is None


@given(st.text() | st.text("open goto https://. ").map(lambda rest: f"open https://{rest}"))
def test_any_text_is_a_task(task: str) -> None:
    call = opens_a_page(task)

    assert call is None or call.inputs["url"] in task


def test_the_first_step_of_an_obvious_task_asks_no_model(stage: Callable[[str], Any]) -> None:
    played = stage("planned").play(
        [DONE], goal=f"Open {PAGE}", tools=[browser_goto], planning="auto"
    )

    assert [call.purpose for call in played.calls] == ["step"]
    first = played.state.turns[0]
    assert (first.actions[0].call.tool, first.actions[0].observation.text) == (
        "browser_goto",
        f"opened {PAGE}",
    )
    assert played.outcome.answer == "It is up."


@pytest.mark.parametrize(("tools", "planning"), [([], "auto"), ([browser_goto], "always")])
def test_without_the_tool_or_with_a_plan_first_the_model_decides(
    stage: Callable[[str], Any], tools: list[Any], planning: str
) -> None:
    script = ['{"goals": ["up"]}', DONE] if planning == "always" else [DONE]

    played = stage("planned").play(script, goal=f"Open {PAGE}", tools=tools, planning=planning)

    assert len(played.calls) == len(script)
    assert not any(turn.calls for turn in played.state.turns)


def test_a_crash_after_the_obvious_step_changes_nothing(stage: Callable[[str], Any]) -> None:
    planned, goal = stage("planned"), f"Open {PAGE}"
    whole = planned.play([DONE], goal=goal, tools=[browser_goto], planning="auto")

    again = planned.play(
        [DONE],
        state=type(whole.state)(goal, turns=whole.state.turns[:1]),
        tools=[browser_goto],
        planning="auto",
    )

    assert (again.state.turns, again.outcome) == (whole.state.turns, whole.outcome)
