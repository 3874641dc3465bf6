"""A question back in the middle of a plan: what follows goes on with the plan as it stood."""

from collections.abc import Callable, Sequence
from typing import Any

from agents.contracts import EndReason, Exchange, Status
from agents.planning import GoalStatus, goal_plan_of
from agents.tools.ask_user import ask_user
from tests.unit.agents.policies.conftest import TOOLS
from tests.unit.agents.policies.planned.replies import DONE, asked, goals, purposes, step

Play = Callable[..., Any]

WHICH = step("ask_user", question="Which city?")
FOUND = step("complete", result="three shops")


def exchange(played: Any, question: str) -> Exchange:
    plan = goal_plan_of(played.state.turns)
    kept = None if plan is None else plan.model_dump(mode="json")
    return Exchange(question=question, answer=played.outcome.answer, plan=kept)


def asking(play: Play, *script: str, goal: str, history: Sequence[Exchange] = ()) -> Any:
    tools = [*TOOLS, ask_user]
    return play(*script, goal=goal, history=history, tools=tools, planning="always")


def test_the_answer_to_a_question_back_goes_on_with_the_plan(play: Play) -> None:
    first = asking(play, goals("find", "tell"), FOUND, WHICH, goal="Find shops")
    assert (first.outcome.reason, first.outcome.answer) == (EndReason.ASKED, "Which city?")

    after = asking(play, DONE, goal="Berlin", history=[exchange(first, "Find shops")])

    assert purposes(after) == ["step"]
    plan = goal_plan_of(after.state.turns)
    assert plan is not None
    assert [goal.status for goal in plan.goals] == [GoalStatus.REACHED, GoalStatus.REACHED]
    assert (plan.task, plan.source) == ("Find shops", "continued")
    told = asked(after, 0)
    assert all(text in told for text in ("Berlin", "Find shops", "three shops", "goal 2 of 2"))
    assert after.outcome.answer == "all"


def test_the_plan_lasts_through_several_questions_back(play: Play) -> None:
    first = asking(play, goals("find", "tell"), WHICH, goal="Find shops")
    second = asking(play, FOUND, WHICH, goal="Berlin", history=[exchange(first, "Find shops")])
    third = asking(play, DONE, goal="Mitte", history=[exchange(second, "Berlin")])

    assert "Find shops" in asked(third, 0)
    assert "three shops" in asked(third, 0)
    assert third.outcome.status is Status.SUCCEEDED


def test_who_wants_something_else_then_has_another_plan_made(play: Play) -> None:
    first = asking(play, goals("find", "tell"), WHICH, goal="Find shops")
    other = step("fail", reason="They want a poem instead.")
    script = (other, '{"goals": ["write a poem"]}', DONE)

    after = asking(play, *script, goal="A poem!", history=[exchange(first, "Find shops")])

    assert purposes(after) == ["step", "adapt_plan", "step"]
    assert "write a poem" in asked(after, 2)


def test_a_plan_that_was_done_or_is_no_plan_of_goals_is_not_gone_on_with(play: Play) -> None:
    done = play(goals("only"), DONE, planning="always")
    kept = {"done": exchange(done, "Q?").plan, "lesson": {"lesson_of_try": 1}, "none": None}

    for plan in kept.values():
        history = [Exchange(question="Q?", answer="A", plan=plan)]
        played = play(goals("new"), DONE, planning="always", history=history)
        assert purposes(played) == ["plan_goals", "step"]
