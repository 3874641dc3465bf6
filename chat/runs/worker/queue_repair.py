"""Put right the queues that do not say what the runs do.

The triggers keep them true. But data may come in where triggers do not fire, such as with a restore
of some tables or with logical replication, and what waits in a wrong queue would wait for ever.
"""

import logging

from django.db import connection, transaction
from django.db.models.functions import Coalesce, Now

from chat.models import Queue, Run, RunStatus
from chat.models.run import CLAIMABLE

logger = logging.getLogger(__name__)

# Queue and runs are of one snapshot, so what differs here is wrong and not just being changed.
_WRONG = """
WITH truth AS (
  SELECT
    space_id,
    lane,
    count(*) FILTER (WHERE status = 'running') AS running,
    coalesce(
      min(id) FILTER (WHERE status = 'interrupted'), min(id) FILTER (WHERE status = 'queued')
    ) AS next_run
  FROM chat_run WHERE ended_at IS NULL GROUP BY space_id, lane
)
SELECT space_id, lane FROM chat_queue FULL JOIN truth USING (space_id, lane)
WHERE coalesce(chat_queue.running, 0) <> coalesce(truth.running, 0)
  OR chat_queue.next_run IS DISTINCT FROM truth.next_run
"""


def repair_queues() -> list[tuple[int, str]]:
    """Count anew each queue that is wrong, and return them by space and lane."""
    with connection.cursor() as cursor:
        cursor.execute(_WRONG)
        wrong: list[tuple[int, str]] = cursor.fetchall()
    for space_id, lane in wrong:
        logger.error("The %s queue of space %s was wrong and was counted again", lane, space_id)
        _recount(space_id, lane)
    return wrong


@transaction.atomic
def _recount(space_id: int, lane: str) -> None:
    Queue.objects.bulk_create([Queue(space_id=space_id, lane=lane)], ignore_conflicts=True)
    # Whoever changes one of the runs waits for this lock, or has been waited for.
    queue = Queue.objects.filter(space_id=space_id, lane=lane)
    queue.select_for_update(no_key=True).get()
    live = Run.objects.live().filter(space_id=space_id, lane=lane)
    waiting = live.filter(status__in=CLAIMABLE).order_by("status", "pk")
    queue.update(
        running=live.filter(status=RunStatus.RUNNING).count(),
        next_run=waiting.values_list("pk", flat=True).first(),
        since=Coalesce("since", Now()),
    )
