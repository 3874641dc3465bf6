"""A long run taken away from the running product, beside everybody else's pages."""

import json
import uuid
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx2
import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, ModelCall, Piece, Policy, Run, User
from chat.policies import publish_seeds
from chat.request import digest_of, piece_digest
from tests.stored_turns import store_turn

TURNS, LENGTH = 500, 2_200
MOST = 50_000_000


@pytest.fixture
def long_run(stack: Any, person: Callable[..., User]) -> Run:
    """Store a run of Ada's whose scratchpad grew by 2.2 kB with each of its turns."""
    publish_seeds()
    now = timezone.now()
    run = Run.objects.create(
        conversation=Conversation.objects.create(owner=person("ada"), title="Long"),
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
        question="Count.",
        status="succeeded",
        answer="Counted.",
        started_at=now,
        ended_at=now,
    )
    digests: list[str] = []
    request = ""
    for index in range(TURNS):
        observation = f"{index}: ".ljust(LENGTH, "o")
        done = {"attempt": 1, "started_at": now}
        store_turn(
            run,
            index,
            kind="thought",
            status="complete",
            observation=observation,
            ended_at=now,
            **done,
        )
        request += observation
        digests.append(piece_digest(observation))
        Piece.objects.create(run=run, digest=UUID(digests[-1]), text=observation)
        ModelCall.objects.create(
            run=run,
            index=index,
            turn_index=index,
            purpose="think",
            provider="openai",
            model="m",
            pieces=[*([(index - 1, 0, index)] if index else []), digests[-1]],
            digest=digest_of(request),
            seconds=0.1,
            **done,
        )
    return run


def test_the_download_of_a_long_run_does_not_fill_the_web_process(
    stack: Any, long_run: Run
) -> None:
    client = Client()
    client.force_login(long_run.conversation.owner)
    cookies = {"sessionid": client.cookies["sessionid"].value}
    with httpx2.Client(base_url=stack.url, cookies=cookies, timeout=60) as browser:
        browser.get(f"/runs/{long_run.pk}/")
        before = stack.web_memory()
        length, peak, text = 0, before, b""
        with browser.stream("GET", f"/runs/{long_run.pk}/transcript.json") as answer:
            for piece in answer.iter_raw(100_000):
                length, text = length + len(piece), text + piece
                peak = max(peak, stack.web_memory())

    assert len(json.loads(text)["model_calls"]) == TURNS
    assert length < 3.5 * TURNS * LENGTH
    assert peak - before < MOST
