"""Stored runs to read, search and compare, without a worker."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from agents.policies.spec import PolicySpec
from chat.models import ENDED, Conversation, Policy, Run, RunStatus, User
from chat.search.documents.runs import index_run, index_run_ended
from chat.search.documents.turns import index_turn
from tests.stored_turns import store_turn

TellRun = Callable[..., Run]


@pytest.fixture
def ada(db: None) -> User:
    """Make a member."""
    return User.objects.create_user("ada")


@pytest.fixture
def bob(db: None) -> User:
    """Make another member."""
    return User.objects.create_user("bob")


@pytest.fixture
def rita(db: None) -> User:
    """Make a reviewer."""
    rita = User.objects.create_user("rita")
    rita.groups.add(Group.objects.get_or_create(name="reviewer")[0])
    return rita


@pytest.fixture
def browse() -> Callable[[User], Client]:
    """Sign somebody in: `browse(ada).get("/search/")`."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def tell(db: None) -> TellRun:
    """Store a run: `tell(ada, {"thought": "Hm.", "observation": "4"}, status="failed")`."""

    def store(
        owner: User,
        *turns: dict[str, Any],
        question: str = "Why?",
        policy: str = "explicit",
        status: str = RunStatus.SUCCEEDED,
        conversation: Conversation | None = None,
        **fields: Any,
    ) -> Run:
        now = timezone.now()
        chosen, _ = Policy.objects.get_or_create(slug=policy, defaults={"name": policy.title()})
        run = Run.objects.create(
            conversation=conversation or Conversation.objects.create(owner=owner, title=question),
            policy_version=chosen.publish(PolicySpec(policy="explicit", tools=("calculator",))),
            client_message_id=uuid.uuid4(),
            question=question,
            status=status,
            started_at=now,
            ended_at=now + timedelta(seconds=3) if status in ENDED else None,
            lease_until=now + timedelta(minutes=5) if status == "running" else None,
            **fields,
        )
        for index, parts in enumerate(turns):
            index_turn(store_turn(run, index, **_defaults() | parts))
        if status in ENDED:
            index_run_ended(run)
        else:
            index_run(run)
        return run

    return store


def _defaults() -> dict[str, Any]:
    now = timezone.now()
    return {
        "status": "complete",
        "started_at": now,
        "ended_at": now,
    }
