"""Runs to be read, taken away and changed."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from chat.models import Run, RunStatus
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from tests.integration.here import here
from tests.integration.runs.record.test_model_calls import call, request
from tests.stored_turns import store_turn

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
ANSWER = "Thought: I know now.\nFinal Answer: It is **42**."


@pytest.fixture
def answered(asked: Callable[..., Run]) -> Run:
    """Make a run of two turns that was answered."""
    run = asked([{"say": CALCULATION}, {"say": ANSWER}], tools=("calculator",))
    here().work(run.pk)
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED
    return run


@pytest.fixture
def told(claimed: Callable[[], Run]) -> Run:
    """Store a run with all that a run can have."""
    run = claimed()
    now = timezone.now()
    store_turn(
        run,
        kind="final",
        status="complete",
        thought="Look.",
        answer="It \u202e turns.",
        tool="browser_screenshot",
        inputs={"b": 1, "a": 2},
        observation="A page.",
        images=[{"media_type": "image/png", "data": "AAAA"}],
        ends="answered",
        plan={"goals": ["one"]},
        started_at=now,
        ended_at=now,
    )
    log = CallLog(run, 0)
    for turns in range(4):
        row = log.row(call(request(turns)), 0)
        row.input_tokens, row.output_tokens, row.first_token_seconds = 10, 20, 0.25
        store(run, row)
    return run
