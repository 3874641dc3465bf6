"""Wherever a run is, its user's wish ends it: by a real worker, with all that was said so far."""

from collections.abc import Callable

import psutil
import pytest

from chat.models import ModelCall, Run, RunStatus, TurnStatus
from chat.runs.stop import stop
from tests.worker_stage.phases import PHASES, Phase
from tests.worker_stage.worker import Stage

WaitFor = Callable[..., None]
BY_NAME = {phase.name: phase for phase in PHASES}


def has_ended(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, ended_at__isnull=False).exists()


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_a_stop_ends_the_run_in_every_phase_and_keeps_what_was_said(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor, phase: Phase
) -> None:
    run = begun(phase)
    assert stop(run)
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    run.refresh_from_db()
    assert (run.status, run.reason, run.message) == ("stopped", "stopped", "Stopped by you.")
    assert not run.turns.filter(status=TurnStatus.OPEN).exists()
    if phase.keeps:
        turn = run.turns.get(status=TurnStatus.INTERRUPTED)
        assert phase.keeps in turn.thought
        done = [(action.tool, action.error) for action in turn.actions]
        assert done == ([(phase.tool, "Interrupted")] if phase.tool else [])
    if phase.tool != "browser_goto":  # a browser ends what it is at before it is closed
        calls = worker.models.under_way
        wait_for(lambda: sum(calls.values()) <= phase.others, "an idle model server")


@pytest.mark.parametrize("name", ["in the Python sandbox", "in the browser"])
def test_no_process_outlives_the_tool_it_was_started_for(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor, name: str
) -> None:
    def started() -> list[psutil.Process]:
        children = psutil.Process(worker.child.pid).children(recursive=True) if worker.child else []
        names = ("bwrap", "chrom")
        return [child for child in children if any(part in _name(child) for part in names)]

    run = begun(BY_NAME[name])
    wait_for(started, "the tool's process")
    stop(run)

    wait_for(lambda: not started(), "the end of what was started", seconds=30)


def _name(process: psutil.Process) -> str:
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else process.name()
    except psutil.NoSuchProcess:
        return ""


@pytest.mark.parametrize("name", ["streaming", "waiting for a slot", "a silent model"])
def test_a_stop_needs_no_redis(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor, name: str
) -> None:
    run = begun(BY_NAME[name])
    worker.redis.hang()
    stop(run)
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    run.refresh_from_db()
    assert run.status == RunStatus.STOPPED


@pytest.mark.parametrize("name", ["streaming", "in the Python sandbox"])
def test_a_stop_comes_through_a_slow_database(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor, name: str
) -> None:
    phase = BY_NAME[name]
    run = begun(phase)
    worker.postgres.slow_down(0.05)
    stop(run)
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    run.refresh_from_db()
    assert (run.status, run.turns.get().status) == (RunStatus.STOPPED, TurnStatus.INTERRUPTED)
    assert phase.keeps in run.turns.get().thought


def test_a_run_that_is_stopped_while_postgres_is_away_ends_when_it_is_back(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor
) -> None:
    run = begun(BY_NAME["a model that fell silent"])
    worker.postgres.cut()
    stop(run)  # the web process still reaches it
    worker.postgres.heal()
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    run.refresh_from_db()
    assert (run.status, run.turns.get().thought.strip()) == ("stopped", BY_NAME["streaming"].keeps)


def test_a_stopped_call_is_on_record_with_what_it_said(
    begun: Callable[[Phase], Run], wait_for: WaitFor
) -> None:
    run = begun(BY_NAME["streaming"])
    stop(run)
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    (call,) = ModelCall.objects.filter(run=run)
    assert call.error == "Stopped"
    assert BY_NAME["streaming"].keeps in call.reply


def test_a_stop_wins_over_a_worker_that_is_leaving(
    begun: Callable[[Phase], Run], worker: Stage, wait_for: WaitFor
) -> None:
    run = begun(BY_NAME["a silent model"])
    worker.ask_worker_to_stop()
    stop(run)
    wait_for(lambda: has_ended(run), "the run's end", seconds=30)

    run.refresh_from_db()
    assert run.status == RunStatus.STOPPED
    wait_for(lambda: worker.child is not None and worker.child.code is not None, "the worker's end")
