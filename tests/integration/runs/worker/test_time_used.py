"""A run's time is that of all its attempts, by the database's clock."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from chat.models import Run, RunStatus
from chat.runs import lease
from chat.runs.worker.claim import claim
from tests.integration.here import here

LONG_AGO = timedelta(seconds=100)


@pytest.fixture
def run(asked: Callable[..., Run]) -> Run:
    """Claim a run a hundred seconds ago."""
    run = claim(asked([{"say": "Final Answer: 4"}], limits={"seconds": 120}).pk, "a worker")
    assert run is not None
    Run.objects.update(claimed_at=timezone.now() - LONG_AGO)
    return run


@pytest.mark.parametrize("let_go", [lease.release, lease.park])
def test_the_time_until_a_run_is_let_go_of_is_kept(run: Run, let_go: Callable[[Run], None]) -> None:
    let_go(run)
    run.refresh_from_db()
    assert 100 <= run.seconds_used < 160
    assert run.claimed_at is None


def test_the_time_of_a_worker_that_died_is_kept_until_its_last_sign(run: Run) -> None:
    now = timezone.now()
    expired = now - timedelta(seconds=1)
    Run.objects.update(claimed_at=now - LONG_AGO, lease_until=expired, seconds_used=5)
    lease.release_expired()
    run.refresh_from_db()
    assert run.seconds_used == pytest.approx(5 + 99 - settings.LEASE_SECONDS)


def test_the_time_of_a_worker_that_died_is_kept_by_a_claim_out_of_turn(run: Run) -> None:
    now = timezone.now()
    expired = now - timedelta(seconds=1)
    Run.objects.update(claimed_at=now - LONG_AGO, lease_until=expired)
    again = claim(run.pk, "another worker")
    assert again is not None
    assert again.seconds_used == pytest.approx(99 - settings.LEASE_SECONDS)


def test_who_waits_uses_no_time(run: Run) -> None:
    lease.park(run)
    run.refresh_from_db()
    used = run.seconds_used
    Run.objects.update(status=RunStatus.INTERRUPTED)
    again = claim(run.pk, "another worker")
    assert again is not None
    assert again.seconds_used == used


def test_a_run_has_only_the_time_that_earlier_attempts_have_left(run: Run) -> None:
    lease.release(run)
    Run.objects.update(seconds_used=120)
    here().work(run.pk)
    run.refresh_from_db()
    assert (run.status, run.reason, run.attempt) == (RunStatus.EXHAUSTED, "time", 2)


def test_a_transaction_in_which_nothing_happens_does_not_hold_its_locks_for_ever(
    db: None,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("30s",)
