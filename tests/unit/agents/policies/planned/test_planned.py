"""The policy planned: a plan, structured steps towards its goals, and an honest end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import EndReason, Status, ThoughtKind
from agents.control import Control
from agents.events import AnswerDelta, RunEnded, ThoughtDelta
from agents.loop import run
from agents.model.model import Model
from agents.planning import GoalStatus, goal_plan_of
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.planned.replies import (
    DONE,
    asked,
    goals,
    observations,
    purposes,
    step,
)

Play = Callable[..., Any]
PLANNING = ("always", "never")
HOSTILE = st.lists(
    st.sampled_from(
        [
            *('{"thought":"t",', '"action":', '{"tool":"add","parameters":', '{"left":1}', "}"),
            *('{"complete":{"result":"x"}}', '{"fail":{"reason":"x"}}', '{"goals":["a","b"]}'),
            *(
                "<think>",
                "</think>",
                "```",
                "Action: add",
                "\n",
                "Final Answer: x",
                "\ud800",
                "\x00",
            ),
        ]
    ),
    max_size=9,
).map("".join)


@tool()
def add(left: int) -> str:
    """Add one."""
    return str(left + 1)


def test_a_step_is_taken_and_completion_is_the_answer(play: Play) -> None:
    played = play(step("add", left=2, right=3), step("complete", result="It is **5**."))

    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "It is **5**.")
    assert [turn.thought.kind for turn in played.state.turns] == [
        ThoughtKind.ACTION,
        ThoughtKind.FINAL,
    ]


def test_the_thought_is_shown_as_it_comes_in_any_chunks(play: Play) -> None:
    for chunk in (1, 3, 1000):
        played = play({"say": DONE, "chunk": chunk})
        shown = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
        assert shown == played.state.turns[0].thought.text == "t"


def test_a_task_of_several_steps_is_planned_and_a_simple_one_is_not(play: Play) -> None:
    script = (goals("one"), DONE)

    planned = play(*script, planning="auto", goal="Collect all prices and compare them")
    simple = play(DONE, planning="auto", goal="What is 2 + 2?")

    assert purposes(planned) == ["plan_goals", "step"]
    assert purposes(simple) == ["step"]


def test_goals_are_worked_through_in_order_and_the_last_one_answers(play: Play) -> None:
    first = step("complete", result="found")
    played = play(goals("find", "tell"), first, DONE, planning="always")

    assert observations(played)[0].text == "found\n\nGoal 1 of 2 is reached. Next: tell"
    assert "[reached] find" in asked(played, 2)
    assert "It is the last goal" in asked(played, 2)
    assert played.outcome.answer == "all"


def test_goals_reached_with_the_same_words_are_no_circle(play: Play) -> None:
    same = step("complete", result="done")
    played = play(goals("a", "b", "c", "d"), same, same, same, DONE, planning="always")

    assert played.outcome.status is Status.SUCCEEDED


def test_a_failed_goal_has_the_plan_adapted(play: Play) -> None:
    fail = step("fail", reason="closed")
    other = json.dumps({"goals": ["ask"]})
    played = play(goals("find", "tell"), fail, other, DONE, planning="always")

    assert purposes(played) == ["plan_goals", "step", "adapt_plan", "step"]
    assert "closed" in asked(played, 2)
    plan = goal_plan_of(played.state.turns)
    assert plan is not None
    assert [goal.status for goal in plan.goals] == [GoalStatus.REPLACED, GoalStatus.REACHED]
    assert played.outcome.status is Status.SUCCEEDED


def test_a_goal_without_another_way_fails_the_run_and_keeps_what_was_reached(play: Play) -> None:
    reached = step("complete", result="found")
    fail = step("fail", reason="closed")
    played = play(goals("find", "tell"), reached, fail, '{"goals": []}', planning="always")

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.FAILED, EndReason.GAVE_UP)
    assert (outcome.message, outcome.partial) == ("closed", True)
    assert outcome.answer == "**find**\n\nfound"
    assert "".join(e.text for e in played.events if isinstance(e, AnswerDelta)) == outcome.answer


def test_a_plan_is_adapted_only_so_often(play: Play) -> None:
    fail, other = step("fail", reason="no"), json.dumps({"goals": ["again"]})
    played = play(
        goals("find"), fail, other, fail, planning="always", settings={"max_adaptations": 1}
    )

    assert played.outcome.reason is EndReason.GAVE_UP


def test_a_plan_that_cannot_be_read_is_the_task_as_one_goal(play: Play) -> None:
    for reply in ("no plan at all", {"fail": "busy"}, '{"phases": []}'):
        played = play(reply, DONE, planning="always", goal="Do it")
        plan = goal_plan_of(played.state.turns)
        assert plan is not None
        assert (plan.source, [g.description for g in plan.goals]) == ("fallback", ["Do it"])
        assert played.outcome.status is Status.SUCCEEDED


def test_giving_up_without_a_plan_fails_and_asks_nobody_for_more(play: Play) -> None:
    played = play(step("fail"))

    assert (played.outcome.status, played.outcome.answer) == (Status.FAILED, "")
    assert played.outcome.message == "Task failed"


@given(replies=st.lists(HOSTILE, min_size=1, max_size=8), planning=st.sampled_from(PLANNING))
def test_whatever_the_model_writes_the_run_ends_honestly(replies: list[str], planning: str) -> None:
    script = [*({"say": reply} for reply in replies), *[{"say": "no"}] * 40]
    model = Model(ScriptedProvider(script), Control())
    spec = PolicySpec(policy="planned", settings={"planning": planning, "strategy": "react_plus"})
    state = State("Q?")

    events = list(run(build(spec, Parts(model, Toolkit([add]), Limits())), state, Control()))

    assert isinstance(events[-1], RunEnded)
    assert state.outcome is not None
    is_answered = any(
        turn.thought is not None and turn.thought.kind is ThoughtKind.FINAL for turn in state.turns
    )
    assert (state.outcome.status is Status.SUCCEEDED) == is_answered
    assert state.outcome.reason is not EndReason.INTERNAL


def streamed(played: Any) -> list[str]:
    """Return the answer as it was shown, piece by piece."""
    return [event.text for event in played.events if isinstance(event, AnswerDelta)]


@pytest.mark.parametrize("planning", PLANNING)
def test_the_answer_of_the_last_goal_is_shown_while_it_is_written(
    stage: Callable[[str], Any], planning: str
) -> None:
    said = {"say": step("complete", result="one two three four"), "chunk": 6}
    script = [goals("only"), said] if planning == "always" else [said]

    played = stage("planned").play(script, planning=planning)

    assert len(streamed(played)) > 2
    assert "".join(streamed(played)) == played.outcome.answer == "one two three four"


def test_the_result_of_a_goal_before_the_last_is_no_answer(stage: Callable[[str], Any]) -> None:
    script = [goals("first", "last"), step("complete", result="half"), DONE]

    played = stage("planned").play(script)

    assert "".join(streamed(played)) == "all"
