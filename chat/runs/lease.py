"""Who holds a run: the claim, the fence around every write, the renewal, and what expires.

All times are the database's own, so that clocks of several machines need not agree.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import CharField, F, Q, QuerySet, Value
from django.db.models.functions import Cast, Coalesce, Concat, Now

from chat.models import Run, RunStatus
from chat.models.run import CLAIMABLE

LEASE = timedelta(seconds=30)
PATIENCE = timedelta(seconds=15)
"""How long a waiting run goes unclaimed before workers are told of it again."""

MOST_WOKEN = 64
"""How many waiting runs one pass tells of, so that a full queue does not grow by itself."""


class LeaseLost(Exception):
    """Raised when the run has gone on without this worker, which must not write any more."""


def claim(run_id: int, worker: str) -> Run | None:
    """Take a waiting or orphaned run for a new attempt; None if it is held, ended or gone."""
    free = Q(status__in=CLAIMABLE) | Q(status=RunStatus.RUNNING, lease_until__lt=Now())
    with transaction.atomic():
        taken = Run.objects.filter(free, pk=run_id).update(
            status=RunStatus.RUNNING,
            attempt=F("attempt") + 1,
            stream_id=Concat(Cast(F("attempt") + 1, CharField()), Value("-0")),
            worker=worker,
            lease_until=Now() + LEASE,
            started_at=Coalesce("started_at", Now()),
        )
        if not taken:
            return None
        return Run.objects.select_related("conversation__owner", "policy_version__policy").get(
            pk=run_id
        )


def fence(run: Run, **changes: Any) -> None:
    """Write to the run under its attempt, locking it until the transaction ends.

    Raises LeaseLost when another attempt has begun or the run was taken away.
    """
    if not held(run).update(**changes):
        raise LeaseLost(f"Run {run.pk} went on without attempt {run.attempt}.")


def held(run: Run) -> QuerySet[Run]:
    """Return the run's row if this attempt still holds it."""
    return Run.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)


def release(run: Run) -> None:
    """Leave the run as it is stored for another worker to go on with; raises LeaseLost."""
    fence(run, status=RunStatus.INTERRUPTED, lease_until=None, woken_at=Now())


def give_up(run: Run, message: str) -> None:
    """End a run that cannot even be recorded, so that nobody tries it for ever."""
    fence(
        run,
        status=RunStatus.FAILED,
        reason="internal",
        message=message,
        lease_until=None,
        ended_at=Now(),
    )


def renew(run_ids: Collection[int], worker: str) -> None:
    """Prolong the leases of a worker's runs in one statement."""
    Run.objects.filter(pk__in=run_ids, worker=worker, status=RunStatus.RUNNING).update(
        lease_until=Now() + LEASE
    )


def release_expired() -> None:
    """Put runs whose worker is gone back into the queue.

    Safe with several workers at once: a row that another one is looking at is skipped.
    """
    with transaction.atomic():
        expired = Run.objects.filter(status=RunStatus.RUNNING, lease_until__lt=Now())
        lost = _locked(expired)
        Run.objects.filter(pk__in=lost).update(
            status=RunStatus.INTERRUPTED, lease_until=None, woken_at=Now() - 2 * PATIENCE
        )


def overdue() -> list[int]:
    """Return the runs that wait too long, marking them as told of; each goes to one caller."""
    with transaction.atomic():
        waiting = Run.objects.filter(status__in=CLAIMABLE, woken_at__lt=Now() - PATIENCE)
        ids = _locked(waiting)
        Run.objects.filter(pk__in=ids).update(woken_at=Now())
        return ids


def _locked(runs: QuerySet[Run]) -> list[int]:
    rows = runs.select_for_update(skip_locked=True).order_by("woken_at", "pk")
    return list(rows.values_list("pk", flat=True)[:MOST_WOKEN])
