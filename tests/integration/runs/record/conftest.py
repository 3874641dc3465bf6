"""A run that was answered, to be read and changed."""

from collections.abc import Callable

import pytest

from chat.models import Run, RunStatus
from tests.integration.here import here

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
