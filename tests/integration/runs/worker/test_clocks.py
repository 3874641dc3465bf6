"""Machines whose clocks differ, or are set while a run works, tell no wrong times of it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.models import Conversation, Run, User
from chat.runs.stop import stop
from chat.runs.validation import TooManyQuestions
from tests.integration.here import here

CALCULATION = 'Thought: I add.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
HOURS = pytest.mark.parametrize("hours", [-2, 2])
Asked = Callable[..., Run]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the clock of this process, which is not the database's: `set_clock(hours=2)`."""
    real = timezone.now

    def set_it(hours: int) -> None:
        monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(hours=hours))

    return set_it


@HOURS
def test_a_worker_whose_clock_is_wrong_tells_how_long_a_run_really_took(
    asked: Asked, set_clock: Callable[..., None], hours: int
) -> None:
    run = asked([{"say": CALCULATION}, {"say": "Final Answer: 4"}], tools=("calculator",))
    set_clock(hours=hours)
    here().work(run.pk)

    run.refresh_from_db()
    times = [run.seconds, *(turn.seconds for turn in run.turns.all())]
    assert all(seconds is not None and 0 <= seconds < 600 for seconds in times)
    assert run.ended_at is not None
    assert run.created_at <= run.ended_at


@HOURS
def test_a_run_that_is_stopped_in_the_line_ends_after_it_was_asked(
    asked: Asked, set_clock: Callable[..., None], hours: int
) -> None:
    run = asked([])
    set_clock(hours=hours)
    stop(run)

    assert run.ended_at is not None
    assert timedelta(0) <= run.ended_at - run.created_at < timedelta(minutes=10)


@HOURS
def test_the_questions_of_a_minute_are_counted_by_one_clock(
    asked: Asked, settings: Any, set_clock: Callable[..., None], hours: int
) -> None:
    settings.QUESTIONS_PER_MINUTE = 2
    asked([])
    set_clock(hours=hours)
    asked([])

    with pytest.raises(TooManyQuestions, match=r"in ([1-9]|[1-5]\d|60) seconds?"):
        asked([])


def test_questions_from_before_the_clock_was_set_back_keep_nobody_waiting(
    asked: Asked, settings: Any, ada: User, conversation: Conversation
) -> None:
    settings.QUESTIONS_PER_MINUTE = 2
    for _ in range(2):
        asked([])
    Run.objects.update(created_at=timezone.now() + timedelta(hours=1))

    assert asked([]).pk
