"""A run may end with a question to the person, or by its finish tool."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Observation
from agents.tools.ask_user import ask_user, finish
from agents.tools.spec import Tool


def test_a_question_ends_the_run_as_asked(observe: Callable[..., Any]) -> None:
    seen = observe(ask_user, {"question": " Which city? "})

    assert seen.observation == Observation(text="Which city?", ends=EndReason.ASKED)


def test_an_answer_ends_the_run_as_answered(observe: Callable[..., Any]) -> None:
    seen = observe(finish, {"answer": "42"})

    assert seen.observation == Observation(text="42", ends=EndReason.ANSWERED)


@pytest.mark.parametrize(("tool", "name"), [(ask_user, "question"), (finish, "answer")])
def test_nothing_ends_no_run(observe: Callable[..., Any], tool: Tool, name: str) -> None:
    seen = observe(tool, {name: " \n"})

    assert (seen.observation.error, seen.observation.ends) == ("ToolFailed", None)
