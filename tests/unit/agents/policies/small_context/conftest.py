"""Runs of every policy with more to tell than their model takes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from pydantic import SecretStr

from agents.contracts import Exchange
from agents.providers.choice import Credentials
from agents.providers.openai import OpenAIProvider
from agents.tools.spec import tool
from tests.unit.agents.policies.conftest import Played, Stage
from tests.unit.agents.policies.small_context.counting_server import CountingServer
from tests.unit.agents.policies.small_context.scripts import SETTINGS

PAGE = 90_000
Serve = Callable[..., CountingServer]
Play = Callable[..., Played]


def page_text(number: int) -> str:
    """Return a page that tells where in it one is."""
    words = (f"page {number} word {place} of this text. " for place in range(6_000))
    return "".join(words)[:PAGE]


@tool()
def page(number: int) -> str:
    """Read a long page of the book by its number."""
    return page_text(number)


LONG = [
    Exchange(question=f"What came in part {number}?", answer=f"part {number} said so. " * 10_000)
    for number in range(5)
]
"""A conversation of answers of some 200 kB each."""


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as servers:

        def serve(script: Sequence[Any], **said: Any) -> CountingServer:
            return servers.enter_context(CountingServer(script, **said))

        yield serve


@pytest.fixture
def play(stage: Callable[[str], Stage]) -> Play:
    def play(policy: str, server: CountingServer, **more: Any) -> Played:
        given: dict[str, Any] = {
            "goal": "What do the ten pages say?",
            "tools": [page],
            "max_turns": 14,
        }
        settings = SETTINGS.get(policy, {})
        return stage(policy).play(provider=provider_of(server), **given | settings | more)

    return play


def provider_of(server: CountingServer) -> OpenAIProvider:
    """Return the provider of the server's one model."""
    return OpenAIProvider(
        Credentials(base_url=server.base_url, api_key=SecretStr("none"), model="m", found="a test")
    )
