"""The two health pages, with parts that are well, away and silent."""

import asyncio
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.db.models.functions import Now
from django.test import AsyncClient, AsyncRequestFactory
from pytest_django import Settings

from chat.models import Worker
from project.ops.health import readyz

pytestmark = pytest.mark.django_db


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Listen, and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_healthz_needs_nothing(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    answer = await async_client.get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"alive\n")


class From(AsyncClient):
    """A client at an address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address

    def _base_scope(self, **request: Any) -> Any:
        return super()._base_scope(**request) | {"client": [self._address, 50_000]}  # type: ignore[misc]


async def seen_before(seconds: float) -> None:
    """Store that a worker was last heard of so long ago."""
    await Worker.objects.acreate(name="host:1:abc", seen_at=Now() - timedelta(seconds=seconds))
    await sync_to_async(lambda: connection.close())()


async def test_readyz_names_a_missing_worker(async_client: AsyncClient) -> None:
    answer = await async_client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "parts": {"database": "ok", "redis": "ok", "worker": "none was heard of for 30 s"},
    }


@pytest.mark.parametrize(("seconds", "status"), [(0, 200), (25, 200), (31, 503)])
async def test_a_worker_that_is_slow_to_answer_is_not_said_to_be_dead(
    transactional_db: None, async_client: AsyncClient, seconds: float, status: int
) -> None:
    await seen_before(seconds)

    answer = await async_client.get("/readyz")

    assert answer.status_code == status


async def test_many_who_ask_at_once_share_one_look(
    transactional_db: None, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    connect = psycopg.AsyncConnection.connect

    async def counted(**parameters: Any) -> Any:
        taken.append(parameters)
        return await connect(**parameters)

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", counted)
    await seen_before(0)
    answers = await asyncio.gather(*(async_client.get("/readyz") for _ in range(150)))

    assert {answer.status_code for answer in answers} == {200}
    assert len(taken) < 15  # a new look a second, on a machine that needs seconds for them all


async def test_who_goes_before_the_answer_does_not_take_it_from_the_others(
    transactional_db: None, async_rf: AsyncRequestFactory
) -> None:
    await seen_before(0)
    gone = asyncio.create_task(readyz(async_rf.get("/readyz")))
    other = asyncio.create_task(readyz(async_rf.get("/readyz")))
    await asyncio.sleep(0)
    gone.cancel()

    assert (await other).status_code == 200


@pytest.mark.parametrize(
    ("address", "from_where"),
    [("203.0.113.7", {}), ("127.0.0.1", {"X-Forwarded-For": "203.0.113.7"})],
    ids=["from elsewhere", "through a proxy"],
)
async def test_a_stranger_learns_only_whether_it_is_ready(
    settings: Settings, address: str, from_where: dict[str, str]
) -> None:
    client = From(address)
    settings.METRICS_TOKEN = "a-token-for-scrapes"
    token = {"Authorization": "Bearer a-token-for-scrapes"}

    answer = await client.get("/readyz", headers=from_where)
    keepers = await client.get("/readyz", headers=from_where | token)

    assert answer.json() == {"ready": False}
    assert "parts" in keepers.json()


async def test_readyz_names_a_database_that_is_away(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "hush-hush")

    answer = await async_client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["parts"]["database"] == "cannot be reached"
    assert b"nowhere" not in answer.content
    assert b"hush" not in answer.content


async def test_readyz_does_not_wait_for_a_silent_database(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch, silent_port: int
) -> None:
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", silent_port)

    answer = await async_client.get("/readyz")

    assert answer.json()["parts"] == {
        "database": "no answer within 1.8 s",
        "redis": "ok",
        "worker": "not known, because the database is away",
    }


@pytest.mark.parametrize("where", ["away", "silent"])
async def test_readyz_names_a_redis_that_does_not_answer(
    async_client: AsyncClient, settings: Settings, silent_port: int, where: str
) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{1 if where == 'away' else silent_port}/0"

    answer = await async_client.get("/readyz")

    assert answer.status_code == 503
    parts = answer.json()["parts"]
    assert (
        parts["redis"] == {"away": "cannot be reached", "silent": "no answer within 0.6 s"}[where]
    )
    assert parts["database"] == "ok"


async def test_health_pages_are_never_kept_by_a_cache(async_client: AsyncClient) -> None:
    answer = await async_client.get("/healthz")

    assert "no-store" in answer.headers["Cache-Control"]
