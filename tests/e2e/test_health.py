"""The health pages of the running product."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx2
import redis
from playwright.sync_api import Page

from chat.models import Worker

WaitFor = Callable[..., None]
AT_ONCE = 150
WORKERS_OWN = {b"_kombu.binding.celery.pidbox", b"_kombu.binding_deadlines"}
"""Where a worker listens for commands: written after its first sign of life."""


def test_a_ready_stack_names_every_part(page: Page, stack: Any, wait_for: WaitFor) -> None:
    wait_for(stack.is_ready, "a sign of the worker's life")
    answer = page.request.get("/readyz")

    assert answer.status == 200
    assert answer.json() == {
        "ready": True,
        "parts": {"database": "ok", "redis": "ok", "worker": "ok"},
    }


def test_a_worker_that_was_stopped_is_missing_at_the_next_look(
    page: Page, stack: Any, wait_for: WaitFor
) -> None:
    stack.stop_worker()

    assert not Worker.objects.exists()
    wait_for(lambda: page.request.get("/readyz").status == 503, "the next look at the parts")
    assert page.request.get("/readyz").json()["parts"]["worker"] == "none was heard of for 10 s"


def test_asking_often_and_at_once_is_answered_and_leaves_nothing_behind(
    stack: Any, valkey: "redis.Redis", wait_for: WaitFor
) -> None:
    wait_for(stack.is_ready, "a sign of the worker's life")
    before = set(valkey.scan_iter()) - WORKERS_OWN

    all_here = Barrier(AT_ONCE)

    limits = httpx2.Limits(max_connections=AT_ONCE)
    client = httpx2.Client(base_url=stack.url, limits=limits, timeout=60, trust_env=False)

    def ask(_: int) -> int:
        all_here.wait(60)
        return client.get("/readyz").status_code

    with client, ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(ask, range(3 * AT_ONCE)))

    assert statuses == [200] * (3 * AT_ONCE)
    assert set(valkey.scan_iter()) - WORKERS_OWN == before
