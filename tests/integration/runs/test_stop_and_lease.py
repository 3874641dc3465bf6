"""A run ends where its user says so, and belongs to one worker at a time."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents.contracts import Outcome, Reason, Status
from agents.control import Control
from chat.live.publisher import publisher
from chat.models import Run, RunStatus, Turn, TurnStatus
from chat.runs import lease, runner
from chat.runs.lease import LeaseLost, claim
from chat.runs.recorder import Recorder
from chat.runs.stop import stop
from chat.runs.watch import watch

WaitFor = Callable[..., None]
ACTION = 'Thought: go\nAction: python_repl\nAction Input: {"code": "import time; time.sleep(60)"}'
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


def seen(run: Run, **fields: Any) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run.pk, **fields).exists()


def test_a_waiting_run_is_stopped_at_once_and_no_worker_takes_it(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    assert stop(run)
    runner.work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.message, run.turns.count()) == ("stopped", "Stopped by you.", 0)
    assert not stop(run)


def test_a_streaming_run_is_stopped_and_keeps_its_text(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    run = asked([{"hang": True, "after": "Thought: I have an idea, it is "}])
    with working(run) as workers:
        wait_for(seen(run, status=RunStatus.RUNNING, provider="scripted"), "the run to begin")
        stop(run)
        workers.wait()

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert (run.status, run.reason) == (RunStatus.STOPPED, "stopped")
    assert (turn.status, "I have an idea" in turn.thought) == (TurnStatus.INTERRUPTED, True)


def test_a_run_is_stopped_in_the_middle_of_a_tool(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    run = asked([{"say": ACTION}], tools=("python_repl",))
    with working(run) as workers:
        wait_for(seen(run, turns__tool="python_repl"), "the tool to be called")
        stop(run)
        workers.wait()

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert run.status == RunStatus.STOPPED
    assert (turn.status, turn.observation_error) == (TurnStatus.INTERRUPTED, "Interrupted")


def test_of_two_workers_one_takes_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    first, second = claim(run.pk, "a"), claim(run.pk, "b")
    assert first is not None
    assert (first.attempt, first.worker, first.stream_id) == (1, "a", "1-0")
    assert second is None


def test_a_second_message_for_an_ended_run_changes_nothing(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    runner.work(run.pk)
    runner.work(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempt, run.model_calls.count()) == ("succeeded", 1, 1)


def test_a_worker_that_lost_its_run_can_write_nothing(asked: Callable[..., Run]) -> None:
    zombie = claim(asked([{"say": "hm"}]).pk, "a")
    assert zombie is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    winner = claim(zombie.pk, "b")
    control = Control()
    recorder = Recorder(zombie, publisher().open(zombie.pk, 1, control), control, [], 0)
    with pytest.raises(LeaseLost):
        recorder.end(Outcome(status=Status.SUCCEEDED, reason=Reason.ANSWERED, answer="late"))

    assert winner is not None
    winner.refresh_from_db()
    assert (winner.status, winner.answer, winner.attempt) == (RunStatus.RUNNING, "", 2)


def test_an_orphaned_run_is_put_back_and_handed_out_once(asked: Callable[..., Run]) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a worker that is gone")
    assert run is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    lease.release_expired()
    run.refresh_from_db()

    assert run.status == RunStatus.INTERRUPTED
    assert (lease.overdue(), lease.overdue()) == ([run.pk], [])


def test_a_run_that_waits_too_long_is_handed_out_again(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "hm"}])
    assert lease.overdue() == []
    Run.objects.update(woken_at=timezone.now() - timedelta(minutes=1))
    assert lease.overdue() == [run.pk]


def test_an_interrupted_thought_is_thought_again_by_the_next_worker(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    run = asked(
        [{"say": CALCULATION}, {"say": "Final Answer: 42", "rate": 2}], tools=("calculator",)
    )
    with working(run) as workers:
        wait_for(seen(run, turns__status="complete"), "the first turn")
        watch().leave()  # as a worker does that is told to shut down
        workers.wait()
        assert seen(run, status=RunStatus.INTERRUPTED, lease_until=None)()
        runner.work(run.pk)  # this process is leaving
        assert seen(run, status=RunStatus.INTERRUPTED, attempt=1)()
        watch.cache_clear()
        runner.work(run.pk)

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
    Turn.objects.create(
        run=run,
        index=0,
        attempt=1,
        kind="action",
        thought="go",
        tool="calculator",
        inputs={"expression": "6 * 7"},
        started_at=timezone.now(),
    )
    run.model_calls.create(
        index=0,
        turn_index=0,
        attempt=1,
        purpose="think",
        provider="scripted",
        model="scripted",
        digest="",
        started_at=timezone.now(),
        seconds=0,
    )
    lease.release(run)
    runner.work(run.pk)

    run.refresh_from_db()
    first = run.turns.get(index=0)
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "42")
    assert (first.observation, first.status, first.attempt) == ("42", TurnStatus.COMPLETE, 2)


def test_many_runs_wait_for_their_models_without_holding_connections(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    pool = connection.pool  # type: ignore[attr-defined] # of the Postgres backend
    runs = [asked([{"hang": True, "after": "Thought: hm "}]) for _ in range(24)]
    with working(*runs) as workers:
        running = Run.objects.filter(status=RunStatus.RUNNING, provider="scripted")
        wait_for(lambda: running.count() == len(runs), "all runs to stream at once")
        connection.close()
        wait_for(lambda: in_use(pool) <= 1, "the connections to be handed back")
        for run in runs:
            stop(run)
        workers.wait()

    assert pool.max_size < len(runs)
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.STOPPED}


def in_use(pool: Any) -> int:
    figures = pool.get_stats()
    return int(figures["pool_size"] - figures["pool_available"])
