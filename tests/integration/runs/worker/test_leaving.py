"""A worker that leaves ends the step it is in, and the next one goes on from there."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from chat.models import Run, RunStatus, TurnStatus
from chat.runs import lease
from chat.runs.worker.claim import claim
from chat.stream.streams import run_key
from tests.integration.here import close_here, here
from tests.integration.runs.rows import act_in, seen

WaitFor = Callable[..., None]
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


@pytest.fixture
def leave() -> Callable[[], None]:
    """Tell this process's worker to shut down; the next test has another one."""
    return lambda: here().leave()


def test_a_worker_that_is_leaving_ends_the_step_it_is_in(
    asked: Callable[..., Run],
    working: Any,
    wait_for: WaitFor,
    leave: Callable[[], None],
    valkey: Any,
) -> None:
    run = asked(
        [{"say": CALCULATION, "rate": 5}, {"say": "Final Answer: 42"}], tools=("calculator",)
    )
    with working(run) as workers:
        wait_for(seen(run, provider="scripted"), "the run to begin")
        leave()
        workers.wait()
        assert seen(run, status=RunStatus.INTERRUPTED, lease_until=None)()
        wait_for(
            lambda: valkey.xrevrange(run_key(run.pk), count=1)[0][0] == b"2-0",
            "the interruption to be told",
        )

    (turn,) = run.turns.all()
    (action,) = turn.actions
    assert (turn.status, action.observation) == (TurnStatus.COMPLETE, "42")


def test_a_stop_wins_over_the_end_of_the_grace(
    asked: Callable[..., Run],
    working: Any,
    wait_for: WaitFor,
    settings: Settings,
    leave: Callable[[], None],
) -> None:
    settings.GRACE_SECONDS = 0
    run = asked([{"hang": True}])
    with working(run) as workers:
        wait_for(seen(run, provider="scripted"), "the run to begin")
        Run.objects.filter(pk=run.pk).update(stop_requested_at=timezone.now())
        leave()
        workers.wait()
        run.refresh_from_db()

    assert run.status == RunStatus.STOPPED


def test_an_interrupted_thought_is_thought_again_by_the_next_worker(
    asked: Callable[..., Run],
    working: Any,
    wait_for: WaitFor,
    settings: Settings,
    leave: Callable[[], None],
) -> None:
    settings.GRACE_SECONDS = 0
    run = asked(
        [{"say": CALCULATION}, {"say": "Final Answer: 42", "rate": 2}], tools=("calculator",)
    )
    with working(run) as workers:
        wait_for(seen(run, turns__status="complete"), "the first turn")
        leave()
        workers.wait()
        assert seen(run, status=RunStatus.INTERRUPTED, lease_until=None)()
        here().work(run.pk)  # this process is leaving
        assert seen(run, status=RunStatus.INTERRUPTED, attempt=1)()
        close_here()
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, "42", 2)
    assert [turn.attempt for turn in run.turns.all()] == [1, 2]


def test_an_open_action_that_may_be_repeated_is_carried_out_by_the_next_worker(
    asked: Callable[..., Run],
) -> None:
    run = claim(
        asked([{"say": CALCULATION}, {"say": "Final Answer: 42"}], tools=("calculator",)).pk, "a"
    )
    assert run is not None
    act_in(run)
    lease.release(run)
    here().work(run.pk)

    run.refresh_from_db()
    first = run.turns.get(index=0)
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "42")
    (action,) = first.actions
    assert (action.observation, first.status, first.attempt) == ("42", TurnStatus.COMPLETE, 2)
