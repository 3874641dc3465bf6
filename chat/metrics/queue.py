"""The state of the queue, read from Postgres at each scrape: it is the same for all processes."""

from collections.abc import Iterable, Mapping
from itertools import product

import psycopg
from django.db import connection
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from chat.models import Approval, Lane, Run
from chat.models.run import LIVE, RunStatus

SECONDS = 2.0
"""How long Postgres may take to connect and, again, to answer."""

NONE = (0, 0.0, 0)
"""What is told where there is no run."""

# One pass over the runs that have not ended, which have an index of their own.
_LIVE = """
SELECT lane, status, count(*), extract(epoch FROM now() - min(created_at))::float,
       count(*) FILTER (WHERE lease_until < now())
FROM {runs} WHERE ended_at IS NULL GROUP BY lane, status
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
    return list(_families({row[:2]: row[2:] for row in live}, pending[0] if pending else 0))


def _families(
    live: Mapping[tuple[str, str], tuple[int, float, int]], pending: int
) -> Iterable[GaugeMetricFamily]:
    labels = ["lane", "status"]
    runs = GaugeMetricFamily("turnstone_runs", "Runs that have not ended.", labels=labels)
    ages = GaugeMetricFamily(
        "turnstone_runs_oldest_seconds",
        "Time since the oldest question among them.",
        labels=labels,
    )
    for place in product(Lane.values, LIVE):
        count, age, _ = live.get(place, NONE)
        runs.add_metric(place, count)
        ages.add_metric(place, age)
    yield runs
    yield ages
    overdue = sum(live.get((lane, RunStatus.RUNNING), NONE)[2] for lane in Lane.values)
    words = "Runs whose worker is gone and that nobody has put back yet."
    yield GaugeMetricFamily("turnstone_leases_overdue", words, value=overdue)
    words = "Questions for a person's approval that are open."
    yield GaugeMetricFamily("turnstone_approvals_pending", words, value=pending)
