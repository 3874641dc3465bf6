"""A planned run on real services: its plan is stored, shown, and gone on with after a crash."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.policies.spec import PolicySpec
from chat.models import Policy, Run, RunStatus, Turn, TurnStatus
from chat.policies import offered
from chat.stream.render import render_run
from tests.integration.here import here

pytestmark = pytest.mark.services

CALLS = [
    {"callId": "1", "toolName": "calculator", "arguments": {"expression": "2 + 2"}},
    {"callId": "2", "toolName": "calculator", "arguments": {"expression": "1 / 0"}},
]
PLAN = f"Intent: count\nPlan: 1. add\nTool Calls: {json.dumps(CALLS)}"
SCRIPT = [{"say": PLAN}, {"say": "It is **4**."}]


@pytest.fixture
def planned(asked: Callable[..., Run]) -> Run:
    return asked(SCRIPT, policy="plan_execute", tools=("calculator",))


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
        "end": (run.status, run.answer, run.partial, run.message),
        "turns": [(done(t), t.thought) for t in run.turns.all()],
        "purposes": [call.purpose for call in run.model_calls.order_by("index")],
    }


def test_a_planned_run_is_stored_call_by_call_and_says_what_failed(planned: Run) -> None:
    here().work(planned.pk)

    planned.refresh_from_db()
    first, second, last = planned.turns.all()
    assert (planned.status, planned.answer, planned.partial) == (
        RunStatus.SUCCEEDED,
        "It is **4**.",
        True,
    )
    assert planned.message == "Tool execution errors occurred. 1 of 2 calls failed."
    assert (first.actions[0].observation, second.actions[0].error) == ("4", "ToolFailed")
    assert first.plan is not None
    assert [call["tool"] for call in first.plan["calls"]] == ["calculator"] * 2
    assert (second.plan, last.plan) == (None, None)
    assert last.answer == "It is **4**."
    assert {turn.status for turn in (first, second, last)} == {TurnStatus.COMPLETE}


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_another_worker_goes_on_with_the_plan_that_is_stored(planned: Run, turns: int) -> None:
    here().work(planned.pk)
    whole = ending(planned)
    fall_back(planned, turns)

    here().work(planned.pk)

    assert ending(planned) == whole


def test_the_page_says_that_the_answer_is_partial_and_why(planned: Run) -> None:
    here().work(planned.pk)

    planned.refresh_from_db()
    page = render_run(planned)
    assert "A partial answer. Tool execution errors occurred. 1 of 2 calls failed." in page


def test_everybody_is_offered_the_policy(transactional_db: None) -> None:
    policy: Policy = offered().get(slug="plan_execute")

    spec: PolicySpec = policy.versions.get().spec
    assert spec.policy == "plan_execute"
    assert "calculator" in spec.tools
