"""Who waits for a worker sees how many are ahead, and what no frame told is told by the record."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone

from agents.control import Control
from chat.live.followers import RunFollower, Snapshot
from chat.live.reader import Entry, reader
from chat.models import Conversation, PolicyVersion, Run, RunStatus, User
from chat.runs.lease import release
from chat.runs.stop import request_stop
from chat.runs.worker.claim import claim
from chat.stream.streams import StreamId
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
Asked = Callable[..., Run]


def is_place(run: Run) -> Callable[[dict[str, Any]], bool]:
    return lambda frame: frame["type"] == "run.queued" and frame["run"] == run.pk


async def test_a_run_that_waits_for_a_worker_is_told_its_place_whenever_it_changes(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    first, second = [await database_sync_to_async(asked)([]) for _ in range(2)]
    page = await page_of(ada, conversation)
    await page.hello({str(first.pk): "0-0", str(second.pk): "0-0"}, after=second.pk)
    before = await page.until(is_place(second))
    await database_sync_to_async(request_stop)(first)
    after = await page.until(is_place(second))

    assert (before["ahead"], after["ahead"]) == (1, 0)


async def test_nobody_is_told_the_place_of_a_run_that_works(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    waiting, works = [await database_sync_to_async(asked)([]) for _ in range(2)]
    await database_sync_to_async(claim)(works.pk, "this test")
    page = await page_of(ada, conversation)
    await page.hello({str(works.pk): "1-0", str(waiting.pk): "0-0"}, after=works.pk)
    await page.until(is_place(waiting))

    assert not [frame for frame in page.frames if is_place(works)(frame)]


async def test_a_run_that_was_let_go_of_is_told_its_place(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    run = await database_sync_to_async(asked)([])
    held = await database_sync_to_async(claim)(run.pk, "this test")
    assert held is not None
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    here().publisher.open(run.pk, 1, Control()).put({"type": "run.started", "attempt": 1})
    await page.until(lambda frame: frame["type"] == "events")
    await database_sync_to_async(release)(held)
    place = await page.until(is_place(run))

    assert place["ahead"] == 0


async def test_a_page_that_asks_before_it_greets_is_told_the_place_of_its_run(
    page_of: PageOf, ada: User, conversation: Conversation, scripted: Callable[..., PolicyVersion]
) -> None:
    version = await database_sync_to_async(scripted)([])
    question = {"text": "2 + 2?", "policy": version.policy.slug}
    page = await page_of(ada, conversation)
    await page.say({"type": "send", "client_message_id": str(uuid.uuid4()), **question})
    created = await page.until(lambda frame: frame["type"] == "run.created")
    place = await page.until(lambda frame: frame["type"] == "run.queued")

    assert (place["run"], place["ahead"]) == (created["run"], 0)


async def hear(_: str) -> None:
    """Take what a page is told, and keep nothing."""


async def read_stored(_: int) -> Snapshot:
    return Snapshot("1-4", "<article></article>", has_ended=False, waits=True)


async def test_a_page_whose_run_was_shown_anew_is_told_its_place_again() -> None:
    said: list[str] = []

    async def say(frame: str) -> None:
        said.append(json.loads(frame)["type"])

    follower = RunFollower(7, StreamId(0, 0), say, read_stored, reader())
    for _ in range(2):
        await follower.tell_place(3)
    await follower.show_stored()
    await follower.tell_place(3)
    await follower.leave()

    assert said == ["run.queued", "run.snapshot", "run.queued"]


async def test_a_run_waits_until_it_begins_and_again_when_it_is_let_go_of() -> None:
    follower = RunFollower(7, StreamId(0, 0), hear, read_stored, reader())
    await follower.join()
    waits = [follower.waits]
    for stream_id in (StreamId(1, 1), StreamId(2, 0), StreamId(2, 1)):
        await follower.deliver([Entry(stream_id, "[{}]", "")])
        waits.append(follower.waits)
    await follower.leave()

    assert waits == [True, False, True, False]


@pytest.mark.parametrize("status", [RunStatus.INTERRUPTED, RunStatus.STOPPED])
async def test_what_redis_never_told_is_told_by_the_record(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked, status: RunStatus
) -> None:
    run = await database_sync_to_async(asked)([])
    await database_sync_to_async(claim)(run.pk, "this test")
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel = here().publisher.open(run.pk, 1, Control())
    for text in ("a", "b"):
        channel.put({"type": "thought.delta", "index": 0, "text": text})
        channel.seal()
    assert await asyncio.to_thread(here().publisher.flush, 10)
    ended_at = timezone.now() if status == RunStatus.STOPPED else None
    await Run.objects.filter(pk=run.pk).aupdate(
        status=status, lease_until=None, ended_at=ended_at, stream_id="1-1"
    )
    snapshot = await page.until(lambda frame: frame["type"] == "run.snapshot", seconds=40)

    assert f'data-status="{status}"' in snapshot["html"]
    if status == RunStatus.INTERRUPTED:
        assert snapshot["id"] == "2-0"  # after all that the page has read


async def test_a_run_whose_worker_is_dead_is_told_to_be_interrupted_before_its_lease_is_over(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    run = await database_sync_to_async(asked)([])
    await database_sync_to_async(claim)(run.pk, "this test")
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    said = []
    for seconds in (5, 29):
        lease_until = timezone.now() + timedelta(seconds=seconds)
        await Run.objects.filter(pk=run.pk).aupdate(lease_until=lease_until)
        frame = await page.until(lambda frame: frame["type"] == "run.stalled", seconds=40)
        said.append((frame["run"], frame["stalled"]))

    assert said == [(run.pk, True), (run.pk, False)]
