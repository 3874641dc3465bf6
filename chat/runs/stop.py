"""Stop a run on somebody's wish, wherever it is."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from agents.contracts import STOPPED_BY_ASKER, EndReason, Outcome, Status
from chat.models import Run
from chat.models.run import UNHELD
from chat.runs.ending import end_unheld, tell_end

BY_AN_ADMINISTRATOR = "Stopped by an administrator."


def stop(run: Run, message: str = STOPPED_BY_ASKER) -> bool:
    """Ask for the run to end and tell whether it was live; `message` says who wants it to.

    A worker that holds it ends it within moments; a run that nobody holds has ended on return.
    """
    was_live = request_stop(run, message)
    if was_live and not run.is_live:
        tell_end(run)
    return was_live


def request_stop(run: Run, message: str = STOPPED_BY_ASKER) -> bool:
    """Store that the run is to end, or its end if nobody holds it; tell whether it was live."""
    with transaction.atomic():
        stored: Any = Run.objects.select_for_update(no_key=True).annotate(now=Now())
        locked = stored.get(pk=run.pk)
        if not locked.is_live:
            return False
        if locked.stop_requested_at is None:
            locked.stop_requested_at, locked.message = locked.now, message
            locked.save(update_fields=["stop_requested_at", "message"])
        if locked.status in UNHELD:
            outcome = Outcome(
                status=Status.STOPPED, reason=EndReason.STOPPED, message=locked.message
            )
            end_unheld(locked, outcome, locked.now)
    run.refresh_from_db()
    return True


def end_stopped() -> None:
    """End the runs that were to stop when their worker let go of them or died."""
    unheld = Run.objects.filter(status__in=UNHELD, ended_at=None)
    for run in unheld.filter(stop_requested_at__isnull=False):
        stop(run, run.message)
