"""Figures for Prometheus: at /metrics of a web process, and on an address of a worker's own.

They are for those who keep Turnstone running: who brings the token of TURNSTONE_METRICS_TOKEN, or
is signed in as an administrator. Everybody else finds nothing there.
"""

import asyncio
import hmac
import logging
import threading
from collections.abc import Iterable
from http.server import ThreadingHTTPServer

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, MetricsHandler
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chat.metrics import instruments, pool  # noqa: F401 (every figure is there from the first scrape)
from chat.metrics.queue import SECONDS, read_queue
from chat.models import User

logger = logging.getLogger(__name__)

ADMIN = "admin"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
BEARER = "Bearer "


@never_cache
async def metrics(request: HttpRequest) -> HttpResponse:
    """Return this process's figures and the queue's; 404 for whoever may not see them."""
    if not (has_token(request.headers.get("Authorization", "")) or await _is_admin(request)):
        raise Http404
    text = generate_latest(REGISTRY) + generate_latest(_registry(await _queue()))
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


def serve_worker() -> ThreadingHTTPServer | None:
    """Answer scrapes of this worker where TURNSTONE_WORKER_METRICS says; None if it says nothing.

    `host:port`, or `host:first-last` for several workers of one machine, each of which takes the
    first port that is free. Without a token only this machine may ask.
    """
    where: str = settings.WORKER_METRICS
    if not where:
        return None
    try:
        host, ports = _place(where)
    except ValueError:
        logger.error("TURNSTONE_WORKER_METRICS=%s is not host:port or host:first-last.", where)
        return None
    if not settings.METRICS_TOKEN and host not in LOOPBACK:
        logger.error(
            "No figures at %s: set TURNSTONE_METRICS_TOKEN, or use an address of this machine.",
            where,
        )
        return None
    for port in ports:
        try:
            server = ThreadingHTTPServer((host, port), _Answer)
        except OSError:
            continue
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        logger.info("Figures for Prometheus at http://%s:%d/metrics", host, server.server_port)
        return server
    logger.error("No figures at %s: every port of it is taken.", where)
    return None


class _Answer(MetricsHandler):
    """Answer one scrape of a worker to who may ask; who asks too slowly is left."""

    timeout = 5
    server_version, sys_version = "Turnstone", ""

    def do_GET(self) -> None:
        """Send the figures of this process."""
        known = self.path.partition("?")[0] == "/metrics"
        free = not settings.METRICS_TOKEN
        if known and (free or has_token(self.headers.get("Authorization", ""))):
            super().do_GET()
        else:
            self.send_error(404)


class _Given(Collector):
    """Figures that were read already."""

    def __init__(self, figures: Iterable[Metric]) -> None:
        self._figures = list(figures)

    def collect(self) -> list[Metric]:
        return self._figures


def _registry(figures: Iterable[Metric]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Given(figures))
    return registry


async def _queue() -> list[Metric]:
    """Return the queue's figures, or only that the database is away."""
    figures: list[Metric] = []
    try:
        figures = await asyncio.wait_for(read_queue(), 2 * SECONDS)
    except (psycopg.Error, TimeoutError) as error:
        logger.warning("The queue cannot be read for a scrape: %s", error)
    words = "1 if Postgres answered this scrape."
    up = GaugeMetricFamily("turnstone_database_up", words, value=int(bool(figures)))
    return [up, *figures]


def has_token(header: str) -> bool:
    """Tell whether a request's Authorization brings TURNSTONE_METRICS_TOKEN."""
    token: str = settings.METRICS_TOKEN
    given = header.removeprefix(BEARER).encode()
    return bool(token) and header.startswith(BEARER) and hmac.compare_digest(given, token.encode())


async def _is_admin(request: HttpRequest) -> bool:
    try:
        user = await request.auser()
        if not isinstance(user, User) or not user.is_active:
            return False
        return user.is_superuser or await user.groups.filter(name=ADMIN).aexists()
    except (DatabaseError, InterfaceError):
        return False


def _place(where: str) -> tuple[str, range]:
    host, _, ports = where.rpartition(":")
    first, _, last = ports.partition("-")
    return host.strip("[]"), range(int(first), int(last or first) + 1)


urlpatterns = [path("metrics", metrics, name="metrics")]
