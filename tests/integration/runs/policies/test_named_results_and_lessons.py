"""The policies rewoo and reflexion, and a settled goal, on real services and after a crash."""

from collections.abc import Callable
from typing import Any

import pytest

from chat.models import Action, Run, RunStatus, Turn, TurnStatus
from chat.policies import offered
from tests.integration.here import here

pytestmark = pytest.mark.services

REWOO = (
    "Plan: add\n#E1 = calculator[2 + 2]\nPlan: read\n#E2 = LLM[Which number is #E1?]\n"
    "Plan: double\n#E3 = calculator[#E2 * 2]",
    "4",
    "It is **8**.",
)
REFLEXION = (
    "Thought: I add.\nAction: calculator\nAction Input: 1 / 0",
    "By zero nothing is divided; add instead.",
    "Thought: I add.\nAction: calculator\nAction Input: 2 + 2",
    "Thought: Seen.\nFinal Answer: 4",
)
SETTLED = ('{"revised_goal": "What is 2 + 2, again?"}', *REFLEXION[2:])
RUNS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "rewoo": (REWOO, {"policy": "rewoo"}),
    "reflexion": (
        REFLEXION,
        {"policy": "reflexion", "settings": {"failures_per_try": 1}},
    ),
    "settled": (SETTLED, {"policy": "explicit", "settings": {"settle_goal": True}}),
}


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest, asked: Callable[..., Run]) -> Run:
    said, fields = RUNS[request.param]
    return asked([{"say": text} for text in said], tools=("calculator",), **fields)


def fall_back(run: Run, turns: int, *, is_open: bool = False) -> None:
    """Leave of a run what a worker had stored that died after so many turns, or in the last."""
    run.model_calls.filter(turn_index__gte=turns).delete()
    run.turns.filter(index__gte=turns).delete()
    if is_open:
        Turn.objects.filter(run=run, index=turns - 1).update(status=TurnStatus.OPEN, ended_at=None)
        Action.objects.filter(turn__run=run, turn__index=turns - 1).update(
            ended_at=None, observation=None, error=""
        )
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
        "turns": [(done(t), t.thought, t.plan) for t in run.turns.all()],
    }


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_another_worker_goes_on_where_the_turns_end(run: Run, turns: int) -> None:
    here().work(run.pk)
    whole = ending(run)
    fall_back(run, turns)

    here().work(run.pk)

    assert ending(run) == whole
    assert whole["end"][0] == RunStatus.SUCCEEDED


def test_a_step_that_is_the_model_s_own_is_made_again(asked: Callable[..., Run]) -> None:
    run = asked([{"say": text} for text in REWOO], tools=("calculator",), policy="rewoo")
    here().work(run.pk)
    whole = ending(run)
    fall_back(run, 2, is_open=True)

    here().work(run.pk)

    assert ending(run) == whole
    assert whole["end"][1] == "It is **8**."


@pytest.mark.parametrize("slug", ["rewoo", "reflexion"])
def test_everybody_is_offered_the_policy(slug: str, transactional_db: None) -> None:
    assert offered().get(slug=slug).versions.get().spec.policy == slug
