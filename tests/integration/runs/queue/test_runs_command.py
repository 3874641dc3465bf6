"""An administrator looks after runs in a terminal: manage.py runs."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from chat.models import Run, RunStatus, User
from chat.runs.lease import LeaseLost, fence
from chat.runs.worker.claim import claim
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
ANSWER = "Final Answer: It is **42**."


def runs(*words: str) -> str:
    """Return what the command writes; a failure is a SystemExit with its code."""
    output = StringIO()
    call_command("runs", *words, stdout=output, stderr=output)
    return output.getvalue()


@pytest.fixture
def answered(asked: Callable[..., Run]) -> Run:
    """Make a run that was answered after one action."""
    run = asked([{"say": CALCULATION}, {"say": ANSWER}], tools=("calculator",))
    here().work(run.pk)
    return run


@pytest.fixture
def held(asked: Callable[..., Run]) -> Run:
    """Make a run that a worker holds."""
    run = claim(asked([{"say": CALCULATION}, {"say": ANSWER}], tools=("calculator",)).pk, "far:1:x")
    assert run is not None
    return run


def test_the_live_runs_are_listed_newest_first(answered: Run, asked: Callable[..., Run]) -> None:
    first, second = asked([{"say": "hm"}]), asked([{"say": "hm"}])

    heading, *lines = runs("list").splitlines()

    assert heading.split()[:3] == ["run", "status", "reason"]
    assert [line.split()[:2] for line in lines] == [
        [str(second.pk), "queued"],
        [str(first.pk), "queued"],
    ]


def test_runs_are_chosen_by_status_user_policy_and_age(
    answered: Run, asked: Callable[..., Run], ada: User
) -> None:
    run = asked([{"say": "hm"}])
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(hours=2))
    slug = run.policy_version.policy.slug

    def listed(*words: str) -> list[int]:
        lines = runs("list", "--json", *words).splitlines()
        return [json.loads(line)["run"] for line in lines]

    assert listed("--status", "succeeded") == [answered.pk]
    assert listed("--user", "ada", "--older-than", "3600") == [run.pk]
    assert listed("--user", "bob") == []
    assert listed("--policy", slug) == [run.pk]
    assert listed("--status", "succeeded", "--status", "queued", "--limit", "1") == [run.pk]


def test_a_list_says_how_many_more_there_are(asked: Callable[..., Run]) -> None:
    for _ in range(3):
        asked([{"say": "hm"}])

    assert runs("list", "--limit", "1").splitlines()[-1] == "... and 2 more"


def test_all_of_one_run_is_shown(answered: Run) -> None:
    text = runs("show", str(answered.pk))
    values = json.loads(runs("show", str(answered.pk), "--json"))

    assert "status: succeeded" in text
    assert "  1 complete (attempt 1): calculator" in text
    assert (values["attempt"], values["calls"], values["answer"]) == (1, 2, "It is **42**.")


def test_a_run_that_is_not_there_is_said_to_be_missing(transactional_db: None) -> None:
    with pytest.raises(CommandError, match="There is no run 4711"):
        runs("show", "4711")


def test_a_run_is_taken_from_its_worker_which_can_write_no_more(held: Run) -> None:
    words = runs("requeue", str(held.pk))

    assert words == f"Run {held.pk} was taken from far:1:x and put back into the queue.\n"
    with pytest.raises(LeaseLost):
        fence(held, message="late")
    here().work(held.pk)
    held.refresh_from_db()
    assert (held.status, held.answer, held.attempt) == (RunStatus.SUCCEEDED, "It is **42**.", 2)


def test_a_live_worker_lets_go_of_a_run_that_was_requeued(
    asked: Callable[..., Run], working: Any, wait_for: Callable[..., None]
) -> None:
    run = asked([{"hang": True, "after": "Thought: hm"}])
    with working(run) as workers:
        wait_for(lambda: Run.objects.filter(pk=run.pk, provider="scripted").exists(), "the start")
        runs("requeue", str(run.pk))
        workers.wait()

        run.refresh_from_db()
        assert (run.status, run.attempt, run.lease_until) == (RunStatus.INTERRUPTED, 1, None)


def test_expired_runs_are_requeued_together(held: Run, asked: Callable[..., Run]) -> None:
    asked([{"say": "hm"}])
    Run.objects.filter(pk=held.pk).update(
        lease_until=timezone.now() - timedelta(hours=1),
        claimed_at=timezone.now() - timedelta(hours=1, seconds=5),
    )

    words = runs("requeue", "--expired")

    held.refresh_from_db()
    assert words.count("\n") == 1
    assert held.status == RunStatus.INTERRUPTED
    assert 4 < held.seconds_used < 60  # the time without a worker is nobody's


def test_an_ended_run_is_not_reopened(answered: Run, asked: Callable[..., Run]) -> None:
    waiting = asked([{"say": "hm"}])

    with pytest.raises(SystemExit) as exit_code:
        runs("requeue", str(answered.pk), str(waiting.pk), "4711")

    answered.refresh_from_db()
    assert (exit_code.value.code, answered.status) == (1, RunStatus.SUCCEEDED)


def test_runs_are_cancelled_in_the_administrators_name(
    held: Run, answered: Run, asked: Callable[..., Run]
) -> None:
    waiting = asked([{"say": "hm"}])

    words = runs("cancel", str(waiting.pk), str(held.pk), str(answered.pk))

    waiting.refresh_from_db()
    held.refresh_from_db()
    assert (waiting.status, waiting.message) == ("stopped", "Stopped by an administrator.")
    assert held.stop_requested_at is not None
    assert words.splitlines() == [
        f"Run {waiting.pk} has ended (stopped).",
        f"Run {held.pk} is being stopped.",
        f"Run {answered.pk} had ended (succeeded).",
    ]


def test_all_waiting_runs_of_a_person_are_cancelled(
    answered: Run, asked: Callable[..., Run]
) -> None:
    for _ in range(2):
        asked([{"say": "hm"}])

    runs("cancel", "--user", "ada", "--status", "queued", "--status", "succeeded")

    assert Run.objects.filter(status="stopped").count() == 2
    assert Run.objects.filter(status="succeeded").count() == 1


@pytest.mark.parametrize("action", ["requeue", "cancel", "verify"])
def test_nothing_is_done_to_all_runs_by_a_slip(transactional_db: None, action: str) -> None:
    with pytest.raises(CommandError):
        runs(action)


def test_runs_that_agree_are_summed_up(answered: Run, asked: Callable[..., Run]) -> None:
    asked([{"say": "hm"}])

    assert runs("verify", "--all") == "Of 1 runs 1 agree, 0 differ, 0 cannot be replayed.\n"
    assert runs("verify", str(answered.pk)).startswith(f"Run {answered.pk} agrees.\n")


def test_a_run_that_differs_ends_the_command_with_code_1(answered: Run) -> None:
    answered.turns.filter(index=0).update(thought="something else")

    with pytest.raises(SystemExit) as exit_code:
        runs("verify", "--user", "ada")

    assert exit_code.value.code == 1


def test_a_run_to_verify_that_is_not_there_is_told(answered: Run) -> None:
    with pytest.raises(CommandError, match="not there"):
        runs("verify", str(answered.pk), "4711")
