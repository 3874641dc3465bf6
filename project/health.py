"""Is Turnstone alive, and is it ready: the two questions a load balancer asks.

`/healthz` touches nothing. `/readyz` asks the database, Redis and a worker, all within two seconds,
and says which part is missing in words fit for a stranger; the details go to the log.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import psycopg
import redis.asyncio
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.cache import never_cache

from project.celery import app

logger = logging.getLogger(__name__)

DATABASE_SECONDS = 1.8
REDIS_SECONDS = 0.6
WORKER_SECONDS = 1.0
OK = "ok"


@never_cache
async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer, which is all it takes to be alive."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
async def readyz(request: HttpRequest) -> JsonResponse:
    """Tell for each part whether it answers; 503 if one does not."""
    database, (queue, worker) = await asyncio.gather(
        _ask("database", _database, DATABASE_SECONDS), _queue_and_worker()
    )
    parts = {"database": database, "redis": queue, "worker": worker}
    ready = all(words == OK for words in parts.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)


async def _queue_and_worker() -> tuple[str, str]:
    queue = await _ask("redis", _redis, REDIS_SECONDS)
    if queue != OK:
        return queue, "not asked, because redis is away"
    return queue, await _ask("worker", _worker, WORKER_SECONDS + 0.3)


async def _ask(part: str, question: Callable[[], Awaitable[str]], seconds: float) -> str:
    try:
        return await asyncio.wait_for(question(), seconds)
    except TimeoutError:
        return f"no answer within {seconds:.1f} s"
    except Exception as error:
        logger.warning("Not ready: %s: %s", part, error)
        return "cannot be reached"


async def _database() -> str:
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory")
    async with await psycopg.AsyncConnection.connect(**parameters) as fresh:
        await fresh.execute("SELECT 1")
    return OK


async def _redis() -> str:
    async with redis.asyncio.Redis.from_url(settings.REDIS_URL) as client:
        await client.ping()
    return OK


async def _worker() -> str:
    answers = await asyncio.to_thread(app.control.ping, timeout=WORKER_SECONDS, limit=1)
    return OK if answers else "no worker answers"


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
]
