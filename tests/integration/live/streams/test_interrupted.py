"""Who watches a run sees that its worker let go of it, and then what the next worker does."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from redis import Redis

from agents.control import Control
from agents.errors import Interrupted
from chat.models import Conversation, Run, RunStatus, Turn, User
from chat.runs.lease import release
from chat.runs.stop import stop
from chat.runs.worker.claim import claim
from chat.runs.worker.reaper import Reaper
from chat.stream.announce import announce_interrupted
from chat.stream.deferred import deferred
from chat.stream.server_events import ThoughtDelta
from chat.stream.streams import run_key
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]


def delta(text: str) -> ThoughtDelta:
    return ThoughtDelta(type="thought.delta", index=0, text=text)


def let_go(run: Run) -> None:
    Turn.objects.create(
        run=run,
        index=0,
        attempt=1,
        kind="thought",
        thought="Stored.",
        status="complete",
        started_at=timezone.now(),
        ended_at=timezone.now(),
    )
    release(run)
    announce_interrupted(run)
    assert deferred().flush(10)


async def test_a_page_is_told_and_goes_on_with_the_next_worker_without_a_gap(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Any
) -> None:
    run, channel = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel.put(delta("lost with the worker"))
    await page.until(lambda frame: frame["type"] == "events")
    await database_sync_to_async(let_go)(run)
    told = await page.until(lambda frame: frame["type"] == "events")
    await database_sync_to_async(claim)(run.pk, "another worker")
    second = here().publisher.open(run.pk, 2, Control())
    second.put({"type": "run.started", "attempt": 2})
    went_on = await page.until(lambda frame: frame["type"] in ("events", "run.snapshot"))

    (event,) = told["events"]
    assert (told["id"], event["type"]) == ("2-0", "run.interrupted")
    assert 'data-status="interrupted"' in event["html"]
    assert "Stored." in event["html"]
    assert (went_on["id"], went_on["events"][0]["type"]) == ("2-1", "run.started")


async def test_a_page_that_missed_text_needs_no_snapshot_to_be_told(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Any, valkey: Redis
) -> None:
    run, channel = await claimed()
    channel.put(delta("forgotten"))
    assert await asyncio.to_thread(here().publisher.flush, 10)
    valkey.delete(run_key(run.pk))
    await database_sync_to_async(let_go)(run)
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)

    assert [frame["type"] for frame in page.frames] == ["events", "caught_up"]
    assert page.events(run.pk)[0]["type"] == "run.interrupted"


async def test_the_worker_that_was_given_up_can_show_nothing_more(
    claimed: Any, valkey: Redis
) -> None:
    run, zombie = await claimed()
    zombie.put(delta("in time"))
    assert await asyncio.to_thread(here().publisher.flush, 10)
    await database_sync_to_async(let_go)(run)
    for text in ("too", "late"):
        zombie.put(delta(text))
        zombie.seal()
    assert await asyncio.to_thread(here().publisher.flush, 10)

    entries: Any = valkey.xrange(run_key(run.pk))
    assert [stream_id for stream_id, _ in entries] == [b"1-1", b"2-0"]
    with pytest.raises(Interrupted):
        zombie.control.check()


async def test_a_run_whose_worker_is_gone_is_told_to_its_pages_and_to_the_workers(
    claimed: Any, valkey: Redis
) -> None:
    run, _ = await claimed()
    assert await asyncio.to_thread(deferred().flush, 10)
    await Run.objects.filter(pk=run.pk).aupdate(lease_until=timezone.now() - timedelta(seconds=1))
    messages = valkey.llen("celery")
    await database_sync_to_async(Reaper(begin=lambda: None).look)()
    assert await asyncio.to_thread(deferred().flush, 10)

    entries: Any = valkey.xrange(run_key(run.pk))
    assert [stream_id for stream_id, _ in entries] == [b"2-0"]
    assert valkey.llen("celery") == messages + 1


async def test_a_run_that_goes_on_already_is_not_called_interrupted(
    claimed: Any, valkey: Redis
) -> None:
    run, _ = await claimed()
    await database_sync_to_async(release)(run)
    await database_sync_to_async(claim)(run.pk, "another worker")
    await database_sync_to_async(announce_interrupted)(run)

    assert not valkey.exists(run_key(run.pk))


async def test_an_interrupted_run_is_stopped_and_its_page_sees_the_end(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Any
) -> None:
    run, _ = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    await database_sync_to_async(let_go)(run)
    await database_sync_to_async(stop)(run)
    await page.end_of(run.pk)

    assert "run.snapshot" not in {frame["type"] for frame in page.frames}
    assert page.events(run.pk)[-1]["status"] == RunStatus.STOPPED
