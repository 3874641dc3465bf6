"""The claim: a worker takes the run that is next, or a certain one, for a new attempt.

All times are the database's own, as those of the lease.
"""

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from chat.clock import Clock
from chat.models import Lane, Queue, Run
from chat.models.run import CLAIMABLE
from chat.prepared import prepared_cursor
from chat.runs.lease import LEASE
from chat.runs.queue import anybody_waits, limit

MAX_WAIT = "2s"
"""How long a claim waits for a queue that somebody is changing; the reaper tries again."""

TRIES = 3
"""How often is looked for a run where each was just taken by somebody else."""

# A queue that somebody is changing is passed over, but never for one of another lane: where a chat
# waits no batch begins, also while another worker has a hand on that chat's queue.
_NEXT = """(
  WITH first AS (
    SELECT space_id, lane FROM chat_queue
    WHERE next_run IS NOT NULL AND running < %(limit)s AND (lane = 'chat' OR NOT EXISTS (
      SELECT FROM chat_queue
      WHERE lane = 'chat' AND next_run IS NOT NULL AND running < %(limit)s
    ))
    ORDER BY lane DESC, running, since, space_id LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  )
  SELECT run.id FROM chat_run AS run JOIN first USING (space_id, lane)
  WHERE run.status IN ('interrupted', 'queued') AND run.ended_at IS NULL
  ORDER BY run.status, run.id LIMIT 1
  FOR NO KEY UPDATE OF run SKIP LOCKED
)"""

# One statement, since it is what a hundred runs that begin at once wait for, one after the other.
_BEGIN = """
UPDATE chat_run SET
  status = 'running', attempt = attempt + 1, stream_id = (attempt + 1)::text || '-0',
  worker = %(worker)s, claimed_at = now, lease_until = now + %(lease)s,
  started_at = coalesce(started_at, now),
  seconds_used = seconds_used + coalesce(
    greatest(extract(epoch FROM lease_until - %(lease)s - claimed_at), 0), 0
  )
FROM (SELECT statement_timestamp() AS now) AS clock
WHERE id = {which} AND (
  status IN ('interrupted', 'queued') OR (status = 'running' AND lease_until < now)
)
RETURNING id, now
"""


def claim_next(worker: str) -> Run | None:
    """Take the run that is next for a new attempt; None if none may be taken.

    Of the queues with fewer than TURNSTONE_RUNS_PER_USER running it is the turn of a chat's before
    any of batch, then of the one that has the fewest, then of what waits longest since being
    served; an interrupted run there comes before those that never began. The queue is locked
    meanwhile, so that no two workers count the same places. Raises OperationalError when a queue
    stays locked.
    """
    run = _begin_attempt(_NEXT, worker, limit=limit())
    for _ in range(TRIES):
        if run is not None or not anybody_waits():
            break
        run = _claim_what_is_locked(worker)
    return run


def claim(run_id: int, worker: str) -> Run | None:
    """Take this very run, out of turn; None if it is held, ended or gone."""
    return _begin_attempt("%(run)s", worker, run=run_id)


def _begin_attempt(which: str, worker: str, **parameters: int) -> Run | None:
    """Take the run that the SQL expression `which` finds for a new attempt; None for none.

    `parameters` are those of the expression. An earlier attempt whose lease has expired has worked
    until its last sign of life.
    """
    values: dict[str, Any] = {"worker": worker, "lease": LEASE, **parameters}
    with prepared_cursor() as cursor:
        cursor.execute(_BEGIN.format(which=which), values)
        row = cursor.fetchone()
    if row is None:
        return None
    clock = Clock(row[1])
    runs = Run.objects.select_related("conversation__owner", "policy_version__policy")
    run = runs.get(pk=row[0])
    run.clock = clock
    return run


def _claim_what_is_locked(worker: str) -> Run | None:
    """Claim where each queue that comes next, or each of its runs, is being changed by somebody."""
    tried: list[tuple[int, str]] = []
    with transaction.atomic():
        while (queue := _next_queue(tried)) is not None:
            run_id = _first_of(queue)
            if run_id is not None:
                return claim(run_id, worker)
            tried.append(queue.pk)
    return None


def _next_queue(tried: Collection[tuple[int, str]]) -> Queue | None:
    """Lock the queue that comes next, leaving out those that `tried` names.

    One that is being changed is passed over, but for when no other is left: it may hold a run by
    the time that it is free. Who holds lines already never waits, and so nobody waits in a circle.
    """
    queues = Queue.objects.admissible(settings.RUNS_PER_USER).exclude(pk__in=tried).in_order()
    chats = queues.filter(lane=Lane.CHAT)
    queues = chats if chats.exists() else queues
    queue = queues.select_for_update(skip_locked=True, no_key=True).first()
    if queue is None and not tried:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = %s", [MAX_WAIT])
        queue = queues.select_for_update(no_key=True).first()
    return queue


def _first_of(queue: Queue) -> int | None:
    waiting = Run.objects.filter(
        space_id=queue.space_id, lane=queue.lane, status__in=CLAIMABLE, ended_at=None
    )
    rows = waiting.select_for_update(skip_locked=True, no_key=True).order_by("status", "pk")
    return rows.values_list("pk", flat=True).first()
