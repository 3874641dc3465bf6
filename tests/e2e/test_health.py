"""The health pages of the running product."""

from typing import Any

from playwright.sync_api import Page


def test_a_ready_stack_names_every_part(page: Page) -> None:
    answer = page.request.get("/readyz")

    assert answer.status == 200
    assert answer.json() == {
        "ready": True,
        "parts": {"database": "ok", "redis": "ok", "worker": "ok"},
    }


def test_a_missing_worker_is_told(page: Page, stack: Any) -> None:
    stack.kill_worker()

    answer = page.request.get("/readyz")

    assert answer.status == 503
    assert answer.json()["parts"]["worker"] == "no worker answers"
