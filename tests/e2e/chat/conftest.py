"""Ada on the page, and policies whose model says what it is told."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy, User
from chat.policies import publish_seeds

SignIn = Callable[[Page, User], None]


@pytest.fixture
def ada(person: Callable[..., User], sign_in: SignIn, page: Page) -> User:
    """Sign Ada in on the page, with the policies of a fresh installation."""
    publish_seeds()
    ada = person("ada")
    sign_in(page, ada)
    return ada


@pytest.fixture
def scripted(transactional_db: None) -> Callable[..., None]:
    """Offer a policy whose model says what it is told: `scripted("slow", [{"say": "…"}])`."""

    def offer(slug: str, script: list[dict[str, Any]]) -> None:
        choice = ModelChoice(provider="scripted", script=tuple(script))
        policy = Policy.objects.create(slug=slug, name=slug.title())
        policy.publish(PolicySpec(policy="explicit", model=choice, tools=("calculator",)))

    return offer
