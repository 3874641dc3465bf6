"""Policies whose model says what it is told, settings of one's own, a page's complaints."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy
from tests.e2e.conftest import Stack, environment


@pytest.fixture
def scripted(transactional_db: None) -> Callable[..., None]:
    """Offer a policy whose model says what it is told: `scripted("slow", [{"say": "…"}])`."""

    def offer(slug: str, script: list[dict[str, Any]], **spec: Any) -> None:
        choice = ModelChoice(provider="scripted", script=tuple(script))
        policy = Policy.objects.create(slug=slug, name=slug.title())
        fixed = {"policy": "explicit", "tools": ("calculator",)} | spec
        policy.publish(PolicySpec(model=choice, **fixed))

    return offer


@pytest.fixture
def stack_with(stack: Stack, tmp_path: Path) -> Iterator[Callable[..., Stack]]:
    """Give the product with a setting of one's own: `own = stack_with(TURNSTONE_MCP="…")`."""
    own: list[Stack] = []

    def begin(**settings: str) -> Stack:
        stack.stop_worker()
        logs = tmp_path / "logs"
        logs.mkdir()
        own.append(Stack(logs, environment() | settings))
        own[-1].start()
        return own[-1]

    yield begin
    for other in own:
        other.stop()


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Note what the console says of the page's policy."""
    found: list[str] = []
    page.on(
        "console",
        lambda message: found.append(message.text) if "Content Security" in message.text else None,
    )
    return found
