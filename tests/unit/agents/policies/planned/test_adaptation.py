"""Another way to a goal: after failures, repeats and unreadable steps, and where there is none."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Status, ThoughtKind
from agents.planning import GoalPlan, GoalStatus, goal_plan_of
from agents.state import State
from tests.unit.agents.policies.planned.replies import DONE, SUMMARY, asked, goals, purposes, step

Play = Callable[..., Any]

OTHER_WAY = json.dumps({"goals": ["ask somebody"]})
FAILURES = [step("broken", text=text) for text in "abc"]
REPEATS = [step("add", left=1)] * 3
CIRCLE = [step("add", left=1), step("search", query="x")] * 2 + [step("add", left=1)]
ONE_VIEW = [step("search", query=text) for text in "abcde"]
UNREADABLE = [step("add", left=1), "{}", "{}", "{}"]


def plan_of(played: Any) -> GoalPlan:
    plan = goal_plan_of(played.state.turns)
    assert plan is not None
    return plan


@pytest.mark.parametrize("stuck", [FAILURES, REPEATS, CIRCLE, ONE_VIEW, UNREADABLE])
def test_a_goal_that_is_stuck_is_reached_another_way(play: Play, stuck: list[str]) -> None:
    played = play(goals("find", "tell"), *stuck, OTHER_WAY, DONE, planning="always")

    assert purposes(played)[-2:] == ["adapt_plan", "step"]
    found, other = plan_of(played).goals
    assert [found.status, other.description] == [GoalStatus.REPLACED, "ask somebody"]
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "all")


def test_what_was_reached_stays_and_who_adapts_is_told_what_went_wrong(play: Play) -> None:
    reached = step("complete", result="found")
    script = [goals("find", "tell"), reached, *FAILURES, OTHER_WAY, DONE]
    played = play(*script, planning="always")

    told = asked(played, purposes(played).index("adapt_plan"))
    assert "One step after the other failed." in told
    assert "cannot c" in told
    kinds = [goal.status for goal in plan_of(played).goals]
    assert kinds == [GoalStatus.REACHED, GoalStatus.REPLACED, GoalStatus.REACHED]


@pytest.mark.parametrize(
    ("reply", "said"),
    [('{"goals": []}', "no other way"), ("I do not know.", "could not be read")],
)
def test_without_another_way_the_run_fails_says_so_and_keeps_what_was_reached(
    play: Play, reply: str, said: str
) -> None:
    reached = step("complete", result="found")
    played = play(goals("find", "tell"), reached, *FAILURES, reply, planning="always")

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.FAILED, EndReason.GAVE_UP)
    assert (outcome.answer, outcome.partial) == ("**find**\n\nfound", True)
    assert outcome.message.startswith("One step after the other failed.")
    assert said in played.state.turns[-1].thought.text
    assert plan_of(played).failed is not None


def test_the_limits_end_the_run_once_no_adaptation_is_left(play: Play) -> None:
    again = [step("broken", text=text) for text in "def"]
    script = [goals("find"), *FAILURES, OTHER_WAY, *again, SUMMARY]
    played = play(*script, planning="always", settings={"max_adaptations": 1})

    assert purposes(played).count("adapt_plan") == 1
    assert (played.outcome.reason, played.outcome.answer) == (EndReason.FAILURES, SUMMARY)
    assert played.outcome.partial


def test_a_model_that_never_took_a_step_is_not_asked_for_another_plan(play: Play) -> None:
    played = play(goals("find"), "{}", "{}", "{}", SUMMARY, planning="always")

    assert purposes(played) == ["plan_goals", "step", "repair", "repair", "summarize"]
    assert played.outcome.reason is EndReason.FAILURES


def test_without_a_plan_there_is_none_to_adapt(play: Play) -> None:
    played = play(*FAILURES, SUMMARY)

    assert purposes(played) == ["step", "step", "step", "summarize"]
    assert played.outcome.reason is EndReason.FAILURES


def test_a_run_that_resumes_while_it_is_stuck_adapts_its_plan(play: Play) -> None:
    whole = play(goals("find"), *FAILURES, OTHER_WAY, DONE, planning="always")
    half = State("Q?", turns=whole.state.turns[:4])
    resumed = play(OTHER_WAY, DONE, planning="always", state=half)

    assert purposes(resumed) == ["adapt_plan", "step"]
    assert resumed.state.turns[4].thought.kind is ThoughtKind.THOUGHT


def test_a_reflection_that_fails_is_gone_without(play: Play) -> None:
    settings = {"strategy": "react_plus"}
    played = play(FAILURES[0], {"fail": "unreachable"}, DONE, settings=settings)

    assert purposes(played) == ["step", "reflect", "step"]
    assert played.outcome.status is Status.SUCCEEDED
