"""Stop a run on somebody's wish, wherever it is."""

from django.db import transaction

from agents.contracts import STOPPED_BY_ASKER
from chat.metrics.instruments import count_end
from chat.models import Run
from chat.models.run import UNHELD
from chat.search.index import index_run_ended
from chat.stream.announce import announce_end

BY_AN_ADMINISTRATOR = "Stopped by an administrator."


def stop(run: Run, message: str = STOPPED_BY_ASKER) -> bool:
    """Ask for the run to end and tell whether it was live; `message` says who wants it to.

    A worker that holds it ends it within moments; a run that nobody holds has ended on return.
    """
    with transaction.atomic():
        was_live = run.request_stop(message)
        ended_here = was_live and not run.is_live
        if ended_here:
            index_run_ended(run)
    if ended_here:
        count_end(run)
        announce_end(run)
    return was_live


def end_stopped() -> None:
    """End the runs that were to stop when their worker let go of them or died."""
    unheld = Run.objects.filter(status__in=UNHELD, ended_at=None)
    for run in unheld.filter(stop_requested_at__isnull=False):
        stop(run, run.message)
