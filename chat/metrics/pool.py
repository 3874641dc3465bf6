"""How many connections to Postgres this process holds, and how many threads wait for one."""

from collections.abc import Iterable

from django.db import connection
from prometheus_client import REGISTRY
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector


class PoolCollector(Collector):
    """Read the pool's own statistics at each scrape."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the connections by whether they are in use, and the threads that wait."""
        figures: dict[str, int] = connection.pool.get_stats()  # type: ignore[attr-defined] # of the Postgres backend
        size, free = figures.get("pool_size", 0), figures.get("pool_available", 0)
        words = "Connections to Postgres in this process's pool."
        connections = GaugeMetricFamily("turnstone_database_connections", words, labels=["state"])
        connections.add_metric(["used"], size - free)
        connections.add_metric(["free"], free)
        yield connections
        words = "Threads that wait for a connection."
        waiting = figures.get("requests_waiting", 0)
        yield GaugeMetricFamily("turnstone_database_waiting", words, value=waiting)

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing, so that registering it reads no statistics."""
        return ()


REGISTRY.register(PoolCollector())
