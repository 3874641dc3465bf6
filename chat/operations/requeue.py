"""Put runs back into the queue by hand: from a worker that is gone, stuck or not wanted more."""

from django.db import transaction

from chat.models import Run, RunStatus
from chat.models.run import CLAIMABLE
from chat.runs.lease import release
from chat.runs.wake import wake
from chat.stream.announce import announce_interrupted


class CannotRequeue(Exception):
    """Raised for a run that no worker could go on with; the text says why."""


def requeue(run_id: int) -> str:
    """Have the next free worker go on with a run, and say what was done.

    A worker that still has it is fenced off: it lets go within a second, and a tool call that it
    was in is made again only if that does no harm. Raises CannotRequeue, and Run.DoesNotExist.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if not run.is_live:
            raise CannotRequeue(f"Run {run_id} has ended ({run.status}); ask its question again.")
        if run.status == RunStatus.WAITING:
            raise CannotRequeue(f"Run {run_id} waits for its user's answer, not for a worker.")
        taken_from = run.worker if run.status not in CLAIMABLE else ""
        if taken_from:
            release(run)
    wake(run_id)
    if not taken_from:
        return f"Run {run_id} was queued; workers were told of it again."
    announce_interrupted(run)
    return f"Run {run_id} was taken from {taken_from} and put back into the queue."
