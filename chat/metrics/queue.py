"""The state of the queue, read from Postgres at each scrape: it is the same for all processes."""

from collections.abc import Iterable, Mapping

import psycopg
from django.db import connection
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from chat.models import Approval, Run
from chat.models.run import LIVE, RunStatus

SECONDS = 2.0
"""How long Postgres may take to connect and, again, to answer."""

# One pass over the runs that have not ended, which have an index of their own.
_LIVE = """
SELECT status, count(*), extract(epoch FROM now() - min(created_at))::float,
       count(*) FILTER (WHERE lease_until < now())
FROM {runs} WHERE ended_at IS NULL GROUP BY status
"""
_PENDING = "SELECT count(*) FROM {approvals} WHERE status = 'pending'"


async def read_queue() -> list[Metric]:
    """Return the figures of the queue; raises psycopg.Error when Postgres is away.

    The connection is its own, for the pool may be what is in trouble.
    """
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory")
    limit = f"-c statement_timeout={int(SECONDS * 1000)}"
    parameters["options"] = f"{parameters.get('options', '')} {limit}".strip()
    parameters["connect_timeout"] = int(SECONDS)
    async with await psycopg.AsyncConnection.connect(**parameters) as own:
        live = await (await own.execute(_LIVE.format(runs=Run._meta.db_table))).fetchall()
        table = Approval._meta.db_table
        pending = await (await own.execute(_PENDING.format(approvals=table))).fetchone()
    return list(_families({row[0]: row[1:] for row in live}, pending[0] if pending else 0))


def _families(
    live: Mapping[str, tuple[int, float, int]], pending: int
) -> Iterable[GaugeMetricFamily]:
    runs = GaugeMetricFamily("turnstone_runs", "Runs that have not ended.", labels=["status"])
    ages = GaugeMetricFamily(
        "turnstone_runs_oldest_seconds",
        "Time since the oldest question among them.",
        labels=["status"],
    )
    for status in LIVE:
        count, age, _ = live.get(status, (0, 0.0, 0))
        runs.add_metric([status], count)
        ages.add_metric([status], age)
    yield runs
    yield ages
    overdue = live.get(RunStatus.RUNNING, (0, 0.0, 0))[2]
    words = "Runs whose worker is gone and that nobody has put back yet."
    yield GaugeMetricFamily("turnstone_leases_overdue", words, value=overdue)
    words = "Questions for a person's approval that are open."
    yield GaugeMetricFamily("turnstone_approvals_pending", words, value=pending)
