"""The queue of the runs that wait for a worker: which is next, and how many are ahead of whom."""

from collections.abc import Collection

from django.conf import settings
from django.db import connection, transaction

from chat.models import Queue, Run
from chat.models.run import CLAIMABLE
from chat.runs.lease import begin_attempt, claim

MAX_WAIT = "2s"
"""How long a claim waits for a queue that somebody is changing; the reaper tries again."""

NO_LIMIT = 1_000_000_000

_NEXT = """(
  WITH first AS (
    SELECT owner_id FROM chat_queue
    WHERE next_run IS NOT NULL AND running < %(limit)s
    ORDER BY running, since, owner_id LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  )
  SELECT run.id FROM chat_run AS run JOIN first USING (owner_id)
  WHERE run.status IN ('interrupted', 'queued') AND run.ended_at IS NULL
  ORDER BY run.status, run.id LIMIT 1
  FOR NO KEY UPDATE OF run SKIP LOCKED
)"""

# A person with two running whose third waits comes after everybody who has fewer. Those who have
# as many come in the order in which they were last served; who gets there only by being served
# now comes after those who are there already. Where somebody has as many running as they may, some
# of these have to end first, and so are ahead, too.
_AHEAD = """
WITH waiting AS (
  SELECT id, owner_id, row_number() OVER (PARTITION BY owner_id ORDER BY status, id) - 1 AS place
  FROM chat_run WHERE status IN ('interrupted', 'queued') AND ended_at IS NULL
), places AS (
  SELECT id, row_number() OVER (
    ORDER BY chat_queue.running + place, place, chat_queue.since, owner_id
  ) - 1 + CASE
    WHEN chat_queue.running + place < %(limit)s THEN 0
    ELSE least(chat_queue.running, chat_queue.running + place - %(limit)s + 1)
  END AS ahead
  FROM waiting JOIN chat_queue USING (owner_id)
)
SELECT id, ahead FROM places WHERE id = ANY(%(ids)s)
"""


def claim_next(worker: str) -> Run | None:
    """Take the run that is next for a new attempt; None if none may be taken.

    Of those who have fewer than TURNSTONE_RUNS_PER_USER running it is the turn of whoever has the
    fewest, then of whoever waits longest since being served; an interrupted run of theirs comes
    before those that never began. Their queue is locked meanwhile, so that no two workers count the
    same places. Raises OperationalError when a queue stays locked.
    """
    run = begin_attempt(_NEXT, worker, limit=_limit())
    if run is None and anybody_waits():
        run = _claim_what_is_locked(worker)
    return run


def ahead_of(run_ids: Collection[int]) -> dict[int, int]:
    """Return how many other runs begin, or have to end, before each of these.

    It is an estimate: whoever's run ends is served the sooner, and somebody who has fewer running
    may come and go first. A run that does not wait for a worker is left out.
    """
    with connection.cursor() as cursor:
        cursor.execute(_AHEAD, {"ids": list(run_ids), "limit": _limit()})
        return dict(cursor.fetchall())


def anybody_waits() -> bool:
    """Tell whether a worker with a free place could begin a run."""
    return Queue.objects.admissible(settings.RUNS_PER_USER).exists()


def _limit() -> int:
    return settings.RUNS_PER_USER or NO_LIMIT


def _claim_what_is_locked(worker: str) -> Run | None:
    """Claim where each queue that comes next, or each of its runs, is being changed by somebody."""
    tried: list[int] = []
    with transaction.atomic():
        while (queue := _next_queue(tried)) is not None:
            run_id = _first_of(queue)
            if run_id is not None:
                return claim(run_id, worker)
            tried.append(queue.pk)
    return None


def _next_queue(tried: Collection[int]) -> Queue | None:
    """Lock the queue of whoever comes next, leaving out those that `tried` names.

    One that is being changed is passed over, but for when no other is left: it may hold a run by
    the time that it is free. Who holds lines already never waits, and so nobody waits in a circle.
    """
    queues = Queue.objects.admissible(settings.RUNS_PER_USER).exclude(pk__in=tried).in_order()
    queue = queues.select_for_update(skip_locked=True, no_key=True).first()
    if queue is None and not tried:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = %s", [MAX_WAIT])
        queue = queues.select_for_update(no_key=True).first()
    return queue


def _first_of(queue: Queue) -> int | None:
    waiting = Run.objects.filter(owner_id=queue.pk, status__in=CLAIMABLE, ended_at=None)
    rows = waiting.select_for_update(skip_locked=True, no_key=True).order_by("status", "pk")
    return rows.values_list("pk", flat=True).first()
