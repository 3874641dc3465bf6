"""The two health pages, with parts that are well, away and silent."""

import socket
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import AsyncClient
from pytest_django import Settings

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


async def test_readyz_names_a_missing_worker(async_client: AsyncClient) -> None:
    answer = await async_client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "parts": {"database": "ok", "redis": "ok", "worker": "no worker answers"},
    }


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

    assert answer.json()["parts"]["database"] == "no answer within 1.8 s"


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
    assert parts["worker"] == "not asked, because redis is away"


async def test_health_pages_are_never_kept_by_a_cache(async_client: AsyncClient) -> None:
    answer = await async_client.get("/healthz")

    assert "no-store" in answer.headers["Cache-Control"]
