"""Completion under the policy planned, however the model says that all is done."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import Status
from agents.events import AnswerDelta, ThoughtDelta
from agents.tools.ask_user import finish
from tests.unit.agents.policies.planned.replies import (
    DONE,
    goals,
    observations,
    purposes,
    step,
)

Play = Callable[..., Any]


def said(**fields: Any) -> str:
    """Write a reply that says in a field of its own whether all is done."""
    thought = {"content": "I need to say it", "reasoning_type": "react"}
    return json.dumps({"thought": thought, **fields})


ADD = {"tool_name": "add", "parameters": {"left": 1}}


@pytest.mark.parametrize(
    "fields",
    [
        {"is_complete": True, "result": "Paris"},
        {"is_complete": "true", "answer": "Paris", "action": None},
        {"is_complete": True, "final_answer": "Paris", "action": {"tool_name": "none"}},
        {"is_complete": True, "result": "Paris", "action": {"tool": "complete", "parameters": {}}},
        {"is_complete": False, "action": {"tool": "complete", "parameters": {"result": "Paris"}}},
    ],
)
def test_a_field_that_says_all_is_done_ends_the_run_with_the_result_beside_it(
    play: Play, fields: dict[str, Any]
) -> None:
    played = play(said(**fields))

    assert purposes(played) == ["step"]
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "Paris")
    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert shown == "Paris"


def test_a_thought_that_is_an_object_is_told_by_what_it_says(play: Play) -> None:
    played = play(said(action=ADD, is_complete=False), DONE)

    shown = [event.text for event in played.events if isinstance(event, ThoughtDelta)]
    assert shown[0] == played.state.turns[0].thought.text == "I need to say it"
    assert observations(played)[0].text == "2"


def test_a_tool_beside_it_is_used_first_and_no_result_is_taken_that_cannot_know_of_it(
    play: Play,
) -> None:
    played = play(said(action=ADD, is_complete=True, result="It is 5."), DONE)

    assert [seen.text for seen in observations(played)] == ["2"]
    assert played.outcome.answer == "all"


def test_done_without_a_result_is_asked_for_it(play: Play) -> None:
    played = play(said(is_complete=True), DONE)

    assert purposes(played) == ["step", "repair"]
    assert played.outcome.answer == "all"


def test_before_the_last_goal_it_settles_the_goal_and_not_the_run(play: Play) -> None:
    half = said(is_complete=True, result="found")
    played = play(goals("find", "tell"), half, DONE, planning="always")

    assert observations(played)[0].text == "found\n\nGoal 1 of 2 is reached. Next: tell"
    assert played.outcome.answer == "all"


@pytest.mark.parametrize(
    ("result", "answer"), [(0, "0"), (False, "false"), (2.5, "2.5"), ({"a": [1]}, '{"a": [1]}')]
)
def test_any_value_is_a_result(play: Play, result: Any, answer: str) -> None:
    for reply in (step("complete", result=result), said(is_complete=True, result=result)):
        played = play(reply)

        assert purposes(played) == ["step"]
        assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, answer)


def test_to_finish_before_the_last_goal_is_to_reach_the_goal(play: Play) -> None:
    early = step("finish", answer="found")
    played = play(goals("find", "tell"), early, DONE, planning="always", tools=[finish])

    assert observations(played)[0].text == "found\n\nGoal 1 of 2 is reached. Next: tell"
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "all")
