"""How often a step is tried again, counted from the turns alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import Action, Observation, ToolCall, Turn
from agents.history.retries import Retries

ERRORS = {"p": "ParseError", "n": "ToolNotFound", "t": "ToolFailed", "i": "Interrupted", ".": None}


CALL = ToolCall(tool="x", inputs={})


def seen(letter: str) -> Observation:
    return Observation(text="", error=ERRORS[letter])


def turns(story: str) -> list[Turn]:
    """Write turns as letters: p and n cannot be run, t failed, i was interrupted, . went well."""
    return [
        Turn(index=index, actions=(Action(call=CALL, observation=seen(letter)),))
        for index, letter in enumerate(story)
    ]


@pytest.mark.parametrize(
    ("story", "number", "pause"),
    [
        ("p", 1, 0.0),
        ("pn", 2, 0.8),
        ("t", 1, 0.8),
        ("tt", 2, 1.6),
        ("pt", 1, 0.8),
        ("ptp", 2, 0.8),
        ("ppptt", 2, 1.6),
        ("tt.t", 1, 0.8),
        ("tttt", 1, 0.8),
        ("tit", 1, 0.8),
    ],
)
def test_a_failed_step_is_tried_again(story: str, number: int, pause: float) -> None:
    due = Retries().due(turns(story))

    assert due is not None
    assert due.number == number
    assert due.pause == pytest.approx(pause)
    assert due.failed.index == len(story) - 1


@pytest.mark.parametrize("story", ["", ".", "i", "ppp", "pnp", "ttt", "t.", "pttpp", "tttttt"])
def test_nothing_is_due_after_success_or_the_last_try(story: str) -> None:
    assert Retries().due(turns(story)) is None


@pytest.mark.parametrize(("story", "used_up"), [("ttt", True), ("tt", False), ("ppp", False)])
def test_only_the_last_failure_of_a_tool_is_marked(story: str, used_up: bool) -> None:
    assert Retries().are_used_up(turns(story)) is used_up


@given(st.text("pnti.", max_size=60), st.integers(0, 3), st.integers(0, 3))
def test_no_step_gets_more_tries_than_allowed(story: str, unreadable: int, tool: int) -> None:
    retries = Retries(unreadable, tool, 1.0)
    due = [retries.due(turns(story[: end + 1])) for end in range(len(story))]

    row = 0
    for retry in due:
        row = 0 if retry is None else row + 1
        assert row <= unreadable + tool
