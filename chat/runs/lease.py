"""Who holds a run: the fence around every write, the renewal, and what expires.

All times are the database's own, so that clocks of several machines need not agree.
"""

import logging
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import (
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    QuerySet,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest, Least, Now

from agents.control import Control
from agents.errors import Interrupted
from chat.metrics.instruments import LEASES_EXPIRED
from chat.models import Run, RunStatus
from chat.runs.db_retry import retrying

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

LEASE = timedelta(seconds=settings.LEASE_SECONDS)

LOOK_SECONDS = 2.0
"""How long an attempt that is to let go of its run asks whether its last unit is stored."""

MAX_EXPIRED = 100
"""How many expired leases one pass takes back."""


class LeaseLost(Interrupted):
    """Raised when the run has gone on without this worker, which must not write any more."""


def retrying_last(
    unit: Callable[[], Result], stored: Callable[[], Result | None], control: Control
) -> Result:
    """Do what `retrying` does for the unit after which its attempt holds the run no more.

    Where its commit had no answer, the heartbeat may see that the run is not held and tell the
    attempt to let go of it before the unit is tried again. Then `stored` is asked for the result:
    None if the unit was not stored, and that is raised which the heartbeat wanted.
    """
    try:
        return retrying(unit, control)
    except LeaseLost:
        raise
    except Interrupted:
        try:
            result = retrying(stored, seconds=LOOK_SECONDS)
        except (OperationalError, InterfaceError):
            result = None
        if result is None:
            raise
        return result


def fence(run: Run, **changes: Any) -> None:
    """Write to the run under its attempt, locking it until the transaction ends.

    Raises LeaseLost when another attempt has begun or the run was taken away.
    """
    held = Run.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)
    if not held.update(attempt=run.attempt, **changes):
        raise LeaseLost(f"Run {run.pk} went on without attempt {run.attempt}.")


def release(run: Run) -> None:
    """Leave the run as it is stored for another worker to go on with; raises LeaseLost."""
    _put_down(run, RunStatus.INTERRUPTED)


def park(run: Run, **changes: Any) -> None:
    """Let the run wait for a person, held by nobody; raises LeaseLost."""
    _put_down(run, RunStatus.WAITING, **changes)


def renew(run_ids: Collection[int], worker: str) -> None:
    """Prolong the leases of a worker's runs at once.

    It locks them in the order in which the deletion of a conversation does, or each would wait for
    what the other has.
    """
    held = Run.objects.filter(pk__in=run_ids, worker=worker, status=RunStatus.RUNNING)
    in_order = held.select_for_update(no_key=True).order_by("pk")
    with transaction.atomic():
        Run.objects.filter(pk__in=in_order.values("pk")).update(lease_until=Now() + LEASE)


def release_expired() -> list[int]:
    """Put runs whose worker is gone back into the queue and return them.

    Each is released in a transaction of its own, and one that somebody is writing to is left for
    the next time. What its worker did after its last sign of life counts for nothing.
    """
    ids = _expired().order_by("lease_until").values_list("pk", flat=True)[:MAX_EXPIRED]
    return [run_id for run_id in ids if _release_expired(run_id)]


def _release_expired(run_id: int) -> bool:
    with transaction.atomic():
        row = _expired().filter(pk=run_id).select_for_update(skip_locked=True, no_key=True)
        run = row.first()
        if run is None:
            return False
        logger.warning("Run %s lost its worker %s in attempt %s", run_id, run.worker, run.attempt)
        Run.objects.filter(pk=run_id).update(**_put_down_as(RunStatus.INTERRUPTED, LAST_SIGN))
        transaction.on_commit(LEASES_EXPIRED.inc)
        return True


def _expired() -> QuerySet[Run]:
    return Run.objects.filter(status=RunStatus.RUNNING, ended_at=None, lease_until__lt=Now())


def _put_down(run: Run, status: RunStatus, **changes: Any) -> None:
    fence(run, **_put_down_as(status, Least(Now(), F("lease_until"))), **changes)


def _put_down_as(status: RunStatus, until: Combinable) -> dict[str, Any]:
    return {
        "status": status,
        "seconds_used": _used(until),
        "claimed_at": None,
        "lease_until": None,
    }


LAST_SIGN = F("lease_until") - Value(LEASE)
"""When a run's worker was last heard of."""


def _used(until: Combinable) -> Combinable:
    """Return the seconds that all attempts have worked; one that nobody holds has added them."""
    span = ExpressionWrapper(until - F("claimed_at"), output_field=DurationField())
    seconds = Func(
        span,
        function="EXTRACT",
        template="%(function)s(EPOCH FROM %(expressions)s)::float8",
    )
    return F("seconds_used") + Coalesce(Greatest(seconds, Value(0.0)), Value(0.0))
