"""A run under self_repair as it is stored: every try a turn, every repair a call."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from chat.models import ModelCall, Run, RunStatus, Turn, TurnStatus
from chat.policies import offered
from tests.integration.here import here

QUICK = {"backoff_seconds": 0.01}
ANSWER = "I know now.\n<__final_answer__>It is **4**.</__final_answer__>"


def act(tool: str, **inputs: str) -> str:
    return f"so\nAction: {json.dumps({'tool': tool, 'inputs': inputs})}"


SCRIPT = [
    {"say": act("calculater", expression="2 + 2")},
    {"say": act("calculator", expression="2 + x")},
    {"say": 'so\nAction: {"tool": "calculator", "inputs": {"expression": 2 + 2}}'},
    {"say": act("calculator", expression="2 + 2")},
    {"say": ANSWER},
]
FIELDS: dict[str, Any] = {"policy": "self_repair", "tools": ("calculator",), "settings": QUICK}


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


def test_each_try_is_a_turn_and_each_repair_a_call(asked: Callable[..., Run]) -> None:
    run = asked(SCRIPT, **FIELDS)
    here().work(run.pk)

    run.refresh_from_db()
    turns = list(run.turns.all())
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "It is **4**.")
    assert [[(action.tool, action.error) for action in turn.actions] for turn in turns] == [
        [("calculater", "ToolNotFound")],
        [("calculator", "ToolFailed")],
        [("", "ParseError")],
        [("calculator", "")],
        [],
    ]
    assert {turn.status for turn in turns} == {TurnStatus.COMPLETE}
    purposes = [call.purpose for call in ModelCall.objects.with_requests(run)]
    assert purposes == ["think", "repair", "repair", "repair", "think"]


@pytest.mark.parametrize("kept", range(5))
def test_another_worker_repairs_on_from_the_turns_that_are_stored(
    asked: Callable[..., Run], kept: int
) -> None:
    run = asked(SCRIPT, **FIELDS)
    here().work(run.pk)
    whole = ending(run)
    run.model_calls.filter(turn_index__gte=kept).delete()
    run.turns.filter(index__gte=kept).delete()
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.INTERRUPTED, ended_at=None, reason="", answer="", partial=False
    )

    here().work(run.pk)

    assert ending(run) == whole


def test_it_is_offered_with_its_settings_on_record(transactional_db: None) -> None:
    policy = offered().get(slug="self_repair")

    spec = policy.versions.get().spec
    assert spec.settings["max_tool_errors"] == 2
    assert "repaired a few times" in policy.description
