"""Runs that wait, asked by people and begun in batch."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from chat.models import Conversation, Run, User
from chat.runs.ask import ask
from chat.runs.worker.claim import claim_next

Ask = Callable[..., list[Run]]


@pytest.fixture
def ask_as(scripted: Any) -> Ask:
    """Ask questions of a person: `first, second = ask_as(ada, 2)`, `ask_as(ada, kind="trial")`."""
    version = scripted([{"say": "Final Answer: 4"}])

    def ask_it(user: User, count: int = 1, **fields: Any) -> list[Run]:
        conversation = Conversation.objects.create(owner=user, **fields)
        return [
            ask(
                conversation,
                "What is 2 + 2?",
                policy_version=version,
                client_message_id=uuid.uuid4(),
            )
            for _ in range(count)
        ]

    return ask_it


@pytest.fixture
def claimed() -> Callable[[], Run]:
    """Claim the run that is next."""

    def claim_it() -> Run:
        run = claim_next("a worker")
        assert run is not None
        return run

    return claim_it
