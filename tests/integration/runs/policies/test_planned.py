"""A run of phases and goals on real services: stored, shown, and gone on with after a crash."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.policies.spec import PolicySpec
from chat.models import Policy, Run, RunStatus, Turn
from chat.policies import offered
from chat.stream.render import render_run
from tests.integration.here import here

pytestmark = pytest.mark.services

PLAN = json.dumps({"phases": [{"name": "Count", "goals": ["Add the numbers", "Tell the sum"]}]})


def step(tool: str, **parameters: Any) -> dict[str, Any]:
    action = {"tool": tool, "parameters": parameters}
    return {"say": json.dumps({"thought": "so", "action": action})}


REACHED = [
    {"say": PLAN},
    step("calculator", expression="2 + 2"),
    step("complete", result="4"),
    step("complete", result="It is **4**."),
]
FAILED = [{"say": PLAN}, step("fail", reason="There are no numbers."), {"say": '{"goals": []}'}]


@pytest.fixture
def planned(asked: Callable[..., Run]) -> Callable[[list[dict[str, Any]]], Run]:
    def ask(script: list[dict[str, Any]]) -> Run:
        settings = {"planning": "always"}
        return asked(script, policy="planned", tools=("calculator",), settings=settings)

    return ask


def fall_back(run: Run, turns: int) -> None:
    """Leave of a run what a worker that died after so many turns had stored."""
    run.model_calls.filter(turn_index__gte=turns).delete()
    run.turns.filter(index__gte=turns).delete()
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.INTERRUPTED, ended_at=None, reason="", answer="", partial=False
    )


def done(turn: Turn) -> list[tuple[str, Any, str | None]]:
    """Return what a turn did: of each action its tool, inputs and observation."""
    return [(action.tool, action.inputs, action.observation) for action in turn.actions]


def ending(run: Run) -> dict[str, Any]:
    run.refresh_from_db()
    return {
        "end": (run.status, run.reason, run.answer, run.partial, run.message),
        "turns": [(done(t), t.thought, t.plan) for t in run.turns.all()],
        "purposes": [call.purpose for call in run.model_calls.order_by("index")],
    }


def test_a_plan_is_stored_and_its_goals_are_reached_turn_by_turn(
    planned: Callable[[list[dict[str, Any]]], Run],
) -> None:
    run = planned(REACHED)

    here().work(run.pk)

    run.refresh_from_db()
    plan, sum_up, reached, answer = run.turns.all()
    assert (run.status, run.answer, run.partial) == (RunStatus.SUCCEEDED, "It is **4**.", False)
    assert plan.plan is not None
    assert plan.plan["phases"][0]["name"] == "Count"
    assert [turn.tools for turn in (sum_up, reached, answer)] == [["calculator"], ["complete"], []]
    assert reached.actions[0].observation == "4\n\nGoal 1 of 2 is reached. Next: Tell the sum"


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_another_worker_goes_on_with_the_plan_that_is_stored(
    planned: Callable[[list[dict[str, Any]]], Run], turns: int
) -> None:
    run = planned(REACHED)
    here().work(run.pk)
    whole = ending(run)
    fall_back(run, turns)

    here().work(run.pk)

    assert ending(run) == whole


def test_a_failed_goal_fails_the_run_and_the_page_says_why(
    planned: Callable[[list[dict[str, Any]]], Run],
) -> None:
    run = planned(FAILED)

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "gave_up")
    page = render_run(run)
    assert "There are no numbers." in page
    assert "Add the numbers" in page


def test_everybody_is_offered_the_policy(transactional_db: None) -> None:
    policy: Policy = offered().get(slug="planned")

    spec: PolicySpec = policy.versions.get().spec
    assert (spec.policy, spec.limits.max_turns) == ("planned", 50)
    assert spec.settings["planning"] == "auto"


def test_the_answer_to_a_question_back_goes_on_with_the_stored_plan(
    asked: Callable[..., Run],
) -> None:
    which = step("ask_user", question="Which numbers?")
    tools, settings = ("calculator", "ask_user"), {"planning": "always"}
    first = asked([REACHED[0], which], policy="planned", tools=tools, settings=settings)
    here().work(first.pk)
    after = asked(
        [step("complete", result="4"), step("complete", result="It is **4**.")],
        policy="planned",
        tools=tools,
        settings=settings,
    )

    here().work(after.pk)

    for run in (first, after):
        run.refresh_from_db()
    assert (first.reason, first.answer) == ("asked", "Which numbers?")
    assert after.answer == "It is **4**."
    assert [call.purpose for call in after.model_calls.order_by("index")] == ["step", "step"]
    plan = after.turns.first()
    assert plan is not None
    assert plan.plan is not None
    assert plan.plan["task"] == first.question
