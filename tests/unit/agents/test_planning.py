"""Plans: when one is needed, how it is read, and how far it has come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import Action, EndReason, Observation, Thought, ThoughtKind, ToolCall, Turn
from agents.errors import ParseError
from agents.planning import (
    Goal,
    GoalPlan,
    GoalStatus,
    fallback_plan,
    goal_plan_of,
    needs_plan,
)
from agents.think.goal_reply import read_goals, read_plan

TWO = {"phases": [{"name": "Look", "goals": ["find", {"description": "count"}]}]}


def planned(plan: GoalPlan) -> Turn:
    kept = plan.model_dump(mode="json")
    return Turn(index=0, thought=Thought(kind=ThoughtKind.THOUGHT, text="p", plan=kept))


def settled(tool: str, *, error: str | None = None, ends: EndReason | None = None) -> Turn:
    call = ToolCall(tool=tool, inputs={"result": "r", "reason": "no way"})
    seen = Observation(text="seen", error=error, ends=ends)
    return Turn(
        index=1,
        thought=Thought(kind=ThoughtKind.ACTION, text="t"),
        actions=(Action(call=call, observation=seen),),
    )


def statuses(plan: GoalPlan | None) -> list[GoalStatus]:
    return [] if plan is None else [goal.status for goal in plan.goals]


@pytest.mark.parametrize(
    ("task", "is_needed"),
    [
        ("Open the small hallway", False),
        ("Compare all prices", True),
        ("What is 2 + 2?", False),
        ("Collect the names, then sort them", True),
        (" ".join(["word"] * 16), True),
        (" ".join(["word"] * 15 + ["click"]), False),
        ("a b c d e f g h i and j", True),
        ("a b c d e f g h i Andes j", False),
        ("", False),
    ],
)
def test_a_plan_is_needed_by_whole_words(task: str, is_needed: bool) -> None:
    assert needs_plan(task) is is_needed


def test_a_plan_is_read_out_of_words_and_fences() -> None:
    plan = read_plan(f"Here:\n```json\n{json.dumps(TWO)}\n```")

    assert [goal.description for goal in plan.goals] == ["find", "count"]


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "A", "goals": ["find"]}, {"name": "B", "goals": ["count"]}]',
        '{"plan": {"phases": [{"goals": ["find"]}, {"goals": ["count"]}]}}',
        '{"tasks": [{"task": "find"}, {"step": "count"}]}',
        'My plan [short]:\n{"plan": ["find", "count"]}',
        '{"steps": ["find", "count"]}',
    ],
)
def test_a_plan_of_another_shape_keeps_all_its_goals(text: str) -> None:
    assert [goal.description for goal in read_plan(text).goals] == ["find", "count"]


@pytest.mark.parametrize("text", ["", "no", '{"goals": "x"}', '{"goals": [3]}', "{}"])
def test_a_reply_without_goals_does_not_say_that_there_is_no_other_way(text: str) -> None:
    with pytest.raises(ParseError):
        read_goals(text)


@pytest.mark.parametrize("text", ["", "no", "{}", '{"phases": []}', '{"phases": [{"goals": [3]}]}'])
def test_a_plan_without_goals_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        read_plan(text)


@given(text=st.text() | st.lists(st.sampled_from(list('{}[]",:a')), max_size=30).map("".join))
def test_any_text_is_a_plan_or_refused(text: str) -> None:
    try:
        plan = read_plan(text)
    except ParseError:
        return
    assert plan.goals


def test_a_plan_is_bounded_however_long_the_reply() -> None:
    goals = [{"description": "x" * 5_000}] * 100
    plan = read_plan(json.dumps({"phases": [{"goals": goals}] * 100}))

    assert (len(plan.phases), len(plan.goals)) == (10, 300)
    assert len(plan.goals[0].description) == 1_000


def test_no_goals_mean_no_other_way() -> None:
    assert read_goals('{"goals": []}') == ()


def test_the_turns_say_how_far_the_plan_has_come() -> None:
    plan = goal_plan_of([planned(read_plan(json.dumps(TWO))), settled("complete")])

    assert plan is not None
    assert statuses(plan) == [GoalStatus.REACHED, GoalStatus.PENDING]
    assert (plan.number, plan.is_at_last) == (2, True)


def test_a_completion_that_failed_settles_nothing() -> None:
    turns = [planned(fallback_plan("x")), settled("complete", error="InvalidInputs")]

    assert statuses(goal_plan_of(turns)) == [GoalStatus.PENDING]


@pytest.mark.parametrize("how", [{"error": "GoalFailed"}, {"ends": EndReason.GAVE_UP}])
def test_a_failed_goal_leaves_nothing_to_work_on(how: dict[str, object]) -> None:
    plan = goal_plan_of([planned(read_plan(json.dumps(TWO))), settled("fail", **how)])  # type: ignore[arg-type]

    assert plan is not None
    assert plan.current is None
    assert plan.failed is not None
    assert plan.failed.outcome == "no way"


def test_other_goals_take_the_place_of_a_failed_one_and_what_followed_it() -> None:
    plan = goal_plan_of([planned(read_plan(json.dumps(TWO))), settled("fail", error="GoalFailed")])
    assert plan is not None

    adapted = plan.adapted([Goal(description="ask")])

    assert [goal.description for goal in adapted.goals] == ["find", "ask"]
    assert statuses(adapted) == [GoalStatus.REPLACED, GoalStatus.PENDING]
    assert (adapted.source, adapted.adaptations) == ("adapted", 1)


def test_the_plan_is_told_with_its_statuses() -> None:
    plan = goal_plan_of([planned(read_plan(json.dumps(TWO))), settled("complete")])

    assert plan is not None
    assert plan.told() == "Phase 1: Look\n  1. [reached] find\n  2. [now] count"


def test_a_run_without_a_plan_has_none() -> None:
    assert goal_plan_of([settled("complete")]) is None
