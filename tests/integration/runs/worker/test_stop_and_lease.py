"""A run ends where its user says so, and belongs to one worker at a time."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import Settings
from redis import Redis

from agents.contracts import EndReason, Outcome, Status
from agents.control import Control
from chat.models import Run, RunStatus, TurnStatus
from chat.runs import lease
from chat.runs.db_retry import retrying
from chat.runs.ending import give_up
from chat.runs.lease import LeaseLost
from chat.runs.record.recorder import Recorder
from chat.runs.stop import stop
from chat.runs.worker import reaper as reaping
from chat.runs.worker.attempt import MAX_ATTEMPTS
from chat.runs.worker.claim import claim
from chat.runs.worker.reaper import Reaper
from chat.stream.streams import run_key
from tests.integration.here import close_here, here
from tests.stored_turns import store_action, store_turn

WaitFor = Callable[..., None]
ACTION = 'Thought: go\nAction: python_repl\nAction Input: {"code": "import time; time.sleep(60)"}'
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


def act_in(run: Run) -> None:
    """Store an action that the run is at."""
    turn = store_turn(run, thought="go", started_at=timezone.now())
    store_action(turn, tool="calculator", inputs={"expression": "6 * 7"}, started_at=None)
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


def seen(run: Run, **fields: Any) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run.pk, **fields).exists()


def test_a_waiting_run_is_stopped_at_once_and_no_worker_takes_it(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    assert stop(run)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.message, run.turns.count()) == ("stopped", "Stopped by you.", 0)
    assert not stop(run)


def test_a_streaming_run_is_stopped_and_keeps_its_text(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor, valkey: Redis
) -> None:
    run = asked([{"hang": True, "after": "Thought: I have an idea, it is "}])
    with working(run) as workers:
        wait_for(lambda: "idea" in str(valkey.xrange(run_key(run.pk))), "its first words")
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
        wait_for(seen(run, turns__stored_actions__tool="python_repl"), "the tool to be called")
        stop(run)
        workers.wait()

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert run.status == RunStatus.STOPPED
    (action,) = turn.actions
    assert (turn.status, action.error) == (TurnStatus.INTERRUPTED, "Interrupted")


def test_a_run_that_is_stopped_while_nobody_holds_it_is_closed_like_any_other(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a")
    assert run is not None
    act_in(run)
    run.model_calls.update(input_tokens=7, output_tokens=2)
    lease.release(run)
    stop(run)

    (turn,) = run.turns.all()
    (action,) = turn.actions
    assert (turn.status, action.error) == (TurnStatus.INTERRUPTED, "Interrupted")
    assert (run.status, run.input_tokens, run.output_tokens) == (RunStatus.STOPPED, 7, 2)


def test_a_worker_that_lost_a_run_does_not_prolong_the_lease_of_who_has_it(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([]).pk, "one that was away")
    assert run is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    now = claim(run.pk, "another")
    assert now is not None

    lease.renew({run.pk}, "one that was away")

    assert Run.objects.get(pk=run.pk).lease_until == now.lease_until
    lease.renew({run.pk}, "another")
    assert Run.objects.get(pk=run.pk).lease_until != now.lease_until


def test_of_many_runs_whose_workers_are_gone_those_left_for_longest_are_taken_back_first(
    claimed: Callable[[], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "MAX_EXPIRED", 2)
    runs = [claimed() for _ in range(3)]
    for seconds, run in enumerate(runs, start=1):
        lease_until = timezone.now() - timedelta(seconds=seconds)
        Run.objects.filter(pk=run.pk).update(lease_until=lease_until)

    assert lease.release_expired() == [runs[2].pk, runs[1].pk]
    assert lease.release_expired() == [runs[0].pk]


@pytest.mark.parametrize("trouble", ["an error", "a slow connection"])
def test_a_worker_that_could_not_see_the_leases_gives_all_time_to_renew_them(
    asked: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, wait_for: WaitFor, trouble: str
) -> None:
    run = claim(asked([]).pk, "a worker")
    assert run is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    mine = Reaper(here().pool.start_thread)
    if trouble == "an error":
        rename("lease_until", "lease_of_another_release")
        mine.look()
        rename("lease_of_another_release", "lease_until")
    else:
        monkeypatch.setattr(reaping, "AT_ONCE", -1.0)
        monkeypatch.setattr(mine, "_patient_until", -reaping.PATIENT_SECONDS)
    mine.look()
    is_left = seen(run, status=RunStatus.RUNNING, attempt=1)()
    monkeypatch.undo()
    Reaper(here().pool.start_thread).look()
    wait_for(seen(run, status=RunStatus.FAILED), "the end of a run whose model has nothing to say")
    wait_for(lambda: not here().pool.busy, "the hands that worked on it to find no other run")

    assert is_left


def rename(before: str, after: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE chat_run RENAME COLUMN {before} TO {after}")


@pytest.mark.parametrize("has_looked", [False, True], ids=["at once", "after a heartbeat"])
def test_an_end_whose_commit_was_not_answered_is_told_as_what_it_is(
    asked: Callable[..., Run], valkey: Redis, wait_for: WaitFor, has_looked: bool
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    lost: list[str] = []

    def lose_the_answer(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "chat_run"') and '"answer" =' in sql and not lost:
            lost.append(sql)
            transaction.on_commit(break_off)
        return execute(sql, *rest)

    def break_off() -> None:
        if has_looked:  # the run is not held any more, so this worker is told to let go of it
            here().watch._look()
        raise OperationalError("The connection is gone, and nobody knows what became of it.")

    with connection.execute_wrapper(lose_the_answer):
        here().work(run.pk)
    assert here().publisher.flush(10)

    run.refresh_from_db()
    assert lost
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, "4", 1)
    key = run_key(run.pk)

    def told() -> list[tuple[str, bool]]:
        entries: Any = valkey.xrange(key)
        return [(place.decode(), b"end" in fields) for place, fields in entries]

    wait_for(lambda: any(is_end for _, is_end in told()), "the end to be told")
    assert told()[-1] == (run.stream_id, True)


def test_a_run_whose_worker_died_before_it_saw_the_stop_is_not_begun_again(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a worker that is gone")
    assert run is not None
    stop(run)
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    here().reaper.look()

    run.refresh_from_db()
    assert (run.status, run.message) == (RunStatus.STOPPED, "Stopped by you.")


def test_a_run_that_no_worker_gets_further_with_ends_in_words(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": CALCULATION}, {"say": "Final Answer: 42"}], tools=("calculator",))
    Run.objects.update(attempt=MAX_ATTEMPTS)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "internal")
    assert "came no further" in run.message


def test_a_run_that_gets_further_may_change_its_worker_as_often_as_it_must(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": CALCULATION}, {"say": "Final Answer: 42"}], tools=("calculator",))
    act_in(run)
    run.turns.update(attempt=30)
    Run.objects.update(attempt=31)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, "42", 32)


def test_the_end_says_who_stopped_the_run(
    asked: Callable[..., Run], working: Any, wait_for: WaitFor
) -> None:
    held, waits = (asked([{"hang": True}]) for _ in range(2))
    words = "Stopped by an administrator."
    with working(held) as workers:
        wait_for(seen(held, status=RunStatus.RUNNING, provider="scripted"), "the run to begin")
        stop(held, words)
        workers.wait()
    stop(waits, words)

    held.refresh_from_db()
    assert (held.status, held.message, waits.message) == (RunStatus.STOPPED, words, words)


def test_of_two_workers_one_takes_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    first, second = claim(run.pk, "a"), claim(run.pk, "b")
    assert first is not None
    assert (first.attempt, first.worker, first.stream_id) == (1, "a", "1-0")
    assert second is None


def test_of_many_workers_at_once_one_takes_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    start, claimed = threading.Barrier(8), list[Run]()

    def take(worker: str) -> None:
        start.wait(20)
        try:
            claimed.extend(filter(None, [claim(run.pk, worker)]))
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [one.attempt for one in claimed] == [1]


def test_a_second_message_for_an_ended_run_changes_nothing(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    here().work(run.pk)
    here().work(run.pk)
    run.refresh_from_db()
    assert (run.status, run.attempt, run.model_calls.count()) == ("succeeded", 1, 1)


def test_a_worker_that_lost_its_run_can_write_nothing(asked: Callable[..., Run]) -> None:
    zombie = claim(asked([{"say": "hm"}]).pk, "a")
    assert zombie is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    winner = claim(zombie.pk, "b")
    control = Control()
    recorder = Recorder(zombie, here().publisher.open(zombie.pk, 1, control), control, [], 0)
    with pytest.raises(LeaseLost):
        recorder.end(Outcome(status=Status.SUCCEEDED, reason=EndReason.ANSWERED, answer="late"))

    assert winner is not None
    winner.refresh_from_db()
    assert (winner.status, winner.answer, winner.attempt) == (RunStatus.RUNNING, "", 2)


def test_an_orphaned_run_is_put_back_and_handed_out_once(asked: Callable[..., Run]) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a worker that is gone")
    assert run is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert (lease.release_expired(), lease.release_expired()) == ([run.pk], [])
    run.refresh_from_db()
    assert (run.status, run.claimed_at) == (RunStatus.INTERRUPTED, None)


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


def test_who_looks_for_a_run_in_vain_holds_no_connection(transactional_db: None) -> None:
    assert not here().work_next()
    assert connection.connection is None


def in_use(pool: Any) -> int:
    figures = pool.get_stats()
    return int(figures["pool_size"] - figures["pool_available"])


def test_a_giving_up_that_the_database_interrupts_is_tried_again(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a")
    assert run is not None
    failed: list[str] = []

    def fail_once(execute: Any, sql: str, *rest: Any) -> Any:
        if '"answer" =' in sql and not failed:
            failed.append(sql)
            raise OperationalError("The connection is gone, and what was done with it.")
        return execute(sql, *rest)

    with connection.execute_wrapper(fail_once):
        retrying(lambda: give_up(run, "It cannot be written down."))

    run.refresh_from_db()
    assert failed
    assert (run.status, run.attempt, run.stream_id) == (RunStatus.FAILED, 2, "2-1")


def test_a_run_that_is_given_up_is_closed_and_nobody_writes_into_it(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a")
    assert run is not None
    act_in(run)
    when = {"attempt": 1, "started_at": run.created_at, "seconds": 1.0}
    run.model_calls.create(index=1, turn_index=0, input_tokens=7, output_tokens=5, **when)
    give_up(run, "It cannot be written down.")
    with pytest.raises(LeaseLost):
        lease.fence(run, message="late")

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert (run.status, run.message) == (RunStatus.FAILED, "It cannot be written down.")
    assert (run.attempt, run.stream_id) == (2, "2-1")
    assert (run.input_tokens, run.output_tokens) == (7, 5)
    (action,) = turn.actions
    assert (turn.status, action.error) == (TurnStatus.INTERRUPTED, "Interrupted")
