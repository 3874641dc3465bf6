"""A run belongs to one worker at a time, and is given up in words when none gets further."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from redis import Redis

from agents.contracts import EndReason, Outcome, Status
from agents.control import Control
from chat.models import Run, RunStatus, TurnStatus
from chat.runs import lease
from chat.runs.db_retry import retrying
from chat.runs.ending import give_up
from chat.runs.lease import LeaseLost
from chat.runs.record.recorder import Recorder
from chat.runs.worker import reaper as reaping
from chat.runs.worker.attempt import MAX_ATTEMPTS
from chat.runs.worker.claim import claim
from chat.runs.worker.reaper import Reaper
from chat.stream.streams import run_key
from tests.integration.here import here
from tests.integration.runs.rows import act_in, seen

WaitFor = Callable[..., None]
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


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
