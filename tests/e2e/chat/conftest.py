"""Policies whose model says what it is told, and what a page complains of."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy


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
def complaints(page: Page) -> list[str]:
    """Note what the console says of the page's policy."""
    found: list[str] = []
    page.on(
        "console",
        lambda message: found.append(message.text) if "Content Security" in message.text else None,
    )
    return found
