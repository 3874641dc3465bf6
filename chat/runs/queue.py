"""The queue of the runs that wait for a worker: whether there are any, and how many are ahead."""

from collections.abc import Collection, Iterable

from django.conf import settings

from chat.models import Queue, Run, RunStatus
from chat.prepared import prepared_cursor

NO_LIMIT = 1_000_000_000

# A space with two running whose third waits comes after all that have fewer. Those that have as
# many come in the order in which they were last served; what gets there only by being served now
# comes after what is there already. Where a space has as many running as it may, some of these have
# to end first, and so are ahead, too. Before batch come all chats.
_AHEAD = """
WITH waiting AS (
  SELECT id, space_id, lane,
    row_number() OVER (PARTITION BY space_id, lane = 'batch' ORDER BY status, id) - 1 AS place
  FROM chat_run WHERE status IN ('interrupted', 'queued') AND ended_at IS NULL
), places AS (
  SELECT id, row_number() OVER (
    ORDER BY lane = 'batch', chat_queue.running + place, place, chat_queue.since, space_id
  ) - 1 + CASE
    WHEN chat_queue.running + place < %(limit)s THEN 0
    ELSE least(chat_queue.running, chat_queue.running + place - %(limit)s + 1)
  END AS ahead
  FROM waiting JOIN chat_queue USING (space_id, lane)
)
SELECT id, ahead FROM places WHERE id = ANY(%(ids)s)
"""


def ahead_of(run_ids: Collection[int]) -> dict[int, int]:
    """Return how many other runs begin, or have to end, before each of these.

    It is an estimate: where a run ends the next is served the sooner, and what has fewer running,
    or is a chat, may come and go first. A run that does not wait for a worker is left out.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_AHEAD, {"ids": list(run_ids), "limit": limit()})
        return dict(cursor.fetchall())


def tell_ahead(runs: Iterable[Run]) -> None:
    """Let each queued run know how many are `ahead` of it: one query for all, none without any."""
    queued = {run.pk: run for run in runs if run.status == RunStatus.QUEUED}
    if queued:
        for run_id, ahead in ahead_of(queued).items():
            queued[run_id].ahead = ahead


def anybody_waits() -> bool:
    """Tell whether a worker with a free place could begin a run."""
    return Queue.objects.admissible(settings.RUNS_PER_USER).exists()


def limit() -> int:
    """Return how many runs of a space and lane may be under way at once."""
    return settings.RUNS_PER_USER or NO_LIMIT
