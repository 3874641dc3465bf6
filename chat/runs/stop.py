"""Stop a run on its owner's wish, wherever it is."""

from django.db import transaction

from chat.live.announce import announce_end
from chat.models import Run
from chat.transcripts.index import index_run_ended


def stop(run: Run) -> bool:
    """Ask for the run to end and tell whether it was live.

    A worker that holds it ends it within moments; a run that still waits has ended on return.
    """
    with transaction.atomic():
        was_live = run.request_stop()
        ended_here = was_live and not run.is_live
        if ended_here:
            index_run_ended(run)
    if ended_here:
        announce_end(run)
    return was_live
