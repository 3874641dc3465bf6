"""Is Turnstone alive, and is it ready: the two questions a load balancer asks.

`/healthz` touches nothing. `/readyz` asks the database and Redis, and reads from the database
whether a worker lives, all within two seconds. However often it is asked, a process asks once at a
time and shares the answer for a moment. Which part is missing is told to who asks from this machine
or brings the token for metrics; the details go to the log. An extension that is not loaded is told
there, too, and takes nothing else away: the process is ready without it.
"""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

import psycopg
import redis.asyncio
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.cache import never_cache

from chat.extensions import extensions
from chat.models import Worker
from chat.runs.worker import alive
from project.ops.metrics import has_token

logger = logging.getLogger(__name__)

DATABASE_SECONDS = 1.8
REDIS_SECONDS = 0.6
SHARED_SECONDS = 1.0
OK = "ok"
NO_WORKER = f"none was heard of for {alive.SECONDS:g} s"
NOT_KNOWN = "not known, because the database is away"

_ALIVE = "SELECT EXISTS (SELECT FROM {workers} WHERE seen_at > now() - make_interval(secs => %s))"


@never_cache
async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer, which is all it takes to be alive."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
async def readyz(request: HttpRequest) -> JsonResponse:
    """Tell whether every part answers, 503 if one does not; to its keepers, which one."""
    parts = await _check().parts()
    ready = all(words == OK for words in parts.values())
    told = {"ready": ready} | (_told_to_keepers(parts) if _is_keeper(request) else {})
    return JsonResponse(told, status=200 if ready else 503)


def _told_to_keepers(parts: dict[str, str]) -> dict[str, object]:
    found = extensions()
    loaded = {one.extension.name: one.source for one in found.loaded}
    told = {"loaded": loaded, "not_loaded": found.not_loaded}
    return {"parts": parts} | ({"extensions": told} if any(told.values()) else {})


class _Check:
    """One look at the parts at a time, for all who ask while it lasts and a moment after."""

    def __init__(self) -> None:
        self._look: asyncio.Task[dict[str, str]] | None = None
        self._ended = 0.0

    async def parts(self) -> dict[str, str]:
        """Return each part with "ok", or what is wrong in words fit for a stranger."""
        is_stale = time.monotonic() - self._ended > SHARED_SECONDS
        if self._look is None or (self._look.done() and is_stale):
            self._look = asyncio.create_task(_look())
            self._look.add_done_callback(self._note_end)
        return await asyncio.shield(self._look)  # who asked first may go before it is known

    def _note_end(self, _: object) -> None:
        self._ended = time.monotonic()


_checks: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Check]" = WeakKeyDictionary()


def _check() -> _Check:
    return _checks.setdefault(asyncio.get_running_loop(), _Check())


async def _look() -> dict[str, str]:
    worker, queue = await asyncio.gather(
        _ask("database", _worker, DATABASE_SECONDS), _ask("redis", _redis, REDIS_SECONDS)
    )
    database = OK
    if worker not in (OK, NO_WORKER):
        database, worker = worker, NOT_KNOWN
    return {"database": database, "redis": queue, "worker": worker}


async def _ask(part: str, question: Callable[[], Awaitable[str]], seconds: float) -> str:
    try:
        return await asyncio.wait_for(question(), seconds)
    except TimeoutError:
        return f"no answer within {seconds:.1f} s"
    except Exception as error:
        logger.warning("Not ready: %s: %s", part, error)
        return "cannot be reached"


async def _worker() -> str:
    """Ask the database, over a connection of its own, whether a worker lives."""
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory")
    question = _ALIVE.format(workers=Worker._meta.db_table)
    async with await psycopg.AsyncConnection.connect(**parameters) as fresh:
        row = await (await fresh.execute(question, [alive.SECONDS])).fetchone()
    return OK if row and row[0] else NO_WORKER


async def _redis() -> str:
    async with redis.asyncio.Redis.from_url(settings.REDIS_URL) as client:
        await client.ping()
    return OK


def _is_keeper(request: HttpRequest) -> bool:
    """Tell whether one of those asks who look after this machine; a proxy brings everybody."""
    if has_token(request.headers.get("Authorization", "")):
        return True
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return address.is_loopback and "X-Forwarded-For" not in request.headers


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
]
