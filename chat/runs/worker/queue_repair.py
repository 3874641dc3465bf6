"""Put right the lines that do not say what the runs do.

The triggers keep them true. But data may come in where triggers do not fire, such as with a restore
of some tables or with logical replication, and a person whose line is wrong would wait for ever.
"""

import logging

from django.db import connection, transaction
from django.db.models.functions import Coalesce, Now

from chat.models import Queue, Run, RunStatus
from chat.models.run import CLAIMABLE

logger = logging.getLogger(__name__)

# Line and runs are of one snapshot, so what differs here is wrong and not just being changed.
_WRONG = """
WITH truth AS (
  SELECT
    owner_id,
    count(*) FILTER (WHERE status = 'running') AS running,
    coalesce(
      min(id) FILTER (WHERE status = 'interrupted'), min(id) FILTER (WHERE status = 'queued')
    ) AS next_run
  FROM chat_run WHERE ended_at IS NULL GROUP BY owner_id
)
SELECT owner_id FROM chat_queue FULL JOIN truth USING (owner_id)
WHERE coalesce(chat_queue.running, 0) <> coalesce(truth.running, 0)
  OR chat_queue.next_run IS DISTINCT FROM truth.next_run
"""


def repair_queues() -> list[int]:
    """Count anew for everybody whose line is wrong, and return who they are."""
    with connection.cursor() as cursor:
        cursor.execute(_WRONG)
        owners = [owner_id for (owner_id,) in cursor.fetchall()]
    for owner_id in owners:
        logger.error("The queue of user %s was wrong and was counted again", owner_id)
        _recount(owner_id)
    return owners


@transaction.atomic
def _recount(owner_id: int) -> None:
    Queue.objects.bulk_create([Queue(owner_id=owner_id)], ignore_conflicts=True)
    # Whoever changes one of the runs waits for this lock, or has been waited for.
    Queue.objects.select_for_update(no_key=True).get(pk=owner_id)
    live = Run.objects.live().filter(owner_id=owner_id)
    waiting = live.filter(status__in=CLAIMABLE).order_by("status", "pk")
    Queue.objects.filter(pk=owner_id).update(
        running=live.filter(status=RunStatus.RUNNING).count(),
        next_run=waiting.values_list("pk", flat=True).first(),
        since=Coalesce("since", Now()),
    )
