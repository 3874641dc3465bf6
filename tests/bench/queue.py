"""Measure how long a worker takes to find whose turn it is, against the obvious query, interleaved.

Run as `make bench-queue`. The obvious query is the one that everybody writes first: count what each
person has running, join it to all that waits, sort, lock one. Both are asked of the same table, in
which a thousand people wait with more and more runs beside 50,000 that have ended; ours goes on to
hold the run. Milliseconds are medians by the wall clock.
"""

import os
import statistics
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from project.local.throwaway import throwaway

PEOPLE = 1_000
ENDED = 50_000
WAITING = (10, 1_000, 10_000)
PASSES = 60

OBVIOUS = """
    SELECT run.id
    FROM chat_run AS run
    JOIN chat_conversation AS conversation ON conversation.id = run.conversation_id
    LEFT JOIN (
        SELECT owner_id, count(*) AS running
        FROM chat_run WHERE status = 'running' GROUP BY owner_id
    ) AS held ON held.owner_id = conversation.owner_id
    WHERE run.status IN ('queued', 'interrupted') AND coalesce(held.running, 0) < 4
    ORDER BY coalesce(held.running, 0), run.status, run.id
    LIMIT 1 FOR UPDATE OF run SKIP LOCKED
"""


def main() -> None:
    """Print the figures."""
    with throwaway() as environment:
        os.environ |= environment | {"DJANGO_SETTINGS_MODULE": "project.settings"}
        import django  # It reads the settings, which name the throw-away servers only now.

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from chat.models import Conversation, User

        call_command("migrate", verbosity=0)
        people = User.objects.bulk_create(User(username=f"user{n}") for n in range(PEOPLE))
        conversations = Conversation.objects.bulk_create(Conversation(owner=o) for o in people)
        fill(conversations, ENDED, ended=True)
        before = 0
        for waiting in WAITING:
            fill(conversations, waiting - before)
            before = waiting
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")
            measure(waiting)


def fill(conversations: list[Any], count: int, *, ended: bool = False) -> None:
    """Add runs that wait, or that have ended."""
    from django.utils import timezone

    from chat.models import PolicyVersion, Run

    fields = {"status": "succeeded", "ended_at": timezone.now()} if ended else {}
    version = PolicyVersion.objects.get(policy__slug="explicit")
    Run.objects.bulk_create(
        (
            Run(
                conversation=conversations[n * 7919 % len(conversations)],
                policy_version=version,
                client_message_id=uuid.uuid4(),
                question=f"Question {n}",
                **fields,
            )
            for n in range(count)
        ),
        batch_size=1000,
    )


def measure(waiting: int) -> None:
    """Print how long a claim, its release, the obvious query and a look at the line take."""
    from chat.models import Run
    from chat.runs.lease import release
    from chat.runs.queue import ahead_of
    from chat.runs.worker.claim import claim_next

    claims, releases, floor, looks = [], [], [], []
    some = list(Run.objects.filter(status="queued").values_list("pk", flat=True)[:20])
    for _ in range(PASSES):
        floor.append(milliseconds(obvious)[0])
        took, run = milliseconds(lambda: claim_next("a worker"))
        claims.append(took)
        releases.append(milliseconds(partial(release, run))[0])
        looks.append(milliseconds(lambda: ahead_of(some))[0])
    for name, times in (
        ("claim", claims),
        ("obvious_query", floor),
        ("release", releases),
        ("positions", looks),
    ):
        print(f"FIGURE line_{name}_{waiting} {statistics.median(times):.2f} ms", flush=True)


def obvious() -> None:
    """Find the next run as everybody would at first."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(OBVIOUS)
        assert cursor.fetchone()


def milliseconds(act: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long it took, and what came of it."""
    began = time.perf_counter()
    result = act()
    return (time.perf_counter() - began) * 1000, result


if __name__ == "__main__":
    main()
