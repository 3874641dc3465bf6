"""A run ends where its user says so, and keeps what was said."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from redis import Redis

from chat.models import Run, RunStatus, TurnStatus
from chat.runs import lease
from chat.runs.stop import stop
from chat.runs.worker.claim import claim
from chat.stream.streams import run_key
from tests.integration.here import here
from tests.integration.runs.rows import act_in, seen

WaitFor = Callable[..., None]
ACTION = 'Thought: go\nAction: python_repl\nAction Input: {"code": "import time; time.sleep(60)"}'


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
