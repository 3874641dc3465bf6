"""A new run's stream begins empty, and nothing of what its worker wrote is taken away again."""

import asyncio
import threading
import uuid
from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async
from django.db import connection, transaction
from redis import Redis

from agents.control import Control
from chat.models import Conversation, PolicyVersion, Run
from chat.runs.ask import ask
from chat.runs.worker.claim import claim
from chat.stream.streams import run_key
from tests.integration.here import here


def begin_the_run(number: int) -> None:
    """Claim a run and publish its first frame, as a worker does that is quicker than its asker."""
    run = claim(number, "a quick worker")
    connection.close()
    assert run is not None
    here().publisher.open(run.pk, 1, Control()).put({"type": "run.started", "attempt": 1})
    assert here().publisher.flush(10)


def test_a_worker_that_is_quicker_than_the_announcement_loses_no_frame(
    conversation: Conversation, scripted: Callable[..., PolicyVersion], valkey: Redis
) -> None:
    with transaction.atomic():
        transaction.on_commit(work_at_once(conversation))
        run = ask(conversation, "Go", policy_version=scripted([]), client_message_id=uuid.uuid4())

    frames: Any = valkey.xrange(run_key(run.pk))
    assert [entry_id for entry_id, _ in frames] == [b"1-1"]


def work_at_once(conversation: Conversation) -> Callable[[], Any]:
    """Return what a worker does between the commit and the announcement."""

    def work() -> None:
        number = conversation.runs.get().pk
        worker = threading.Thread(target=begin_the_run, args=(number,))
        worker.start()
        worker.join()

    return work


async def test_what_a_run_of_the_same_number_left_is_gone(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    first = await database_sync_to_async(asked)([])
    left = run_key(first.pk + 1)
    await asyncio.to_thread(valkey.xadd, left, {"d": "[]"}, id="3-7")
    second = await database_sync_to_async(asked)([])

    assert run_key(second.pk) == left
    assert not await asyncio.to_thread(valkey.exists, left)
