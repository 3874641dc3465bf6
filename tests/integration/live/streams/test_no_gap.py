"""Text is seen once and whole, however often a page is reloaded and whatever Redis forgets."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from redis import Redis

from agents.control import Control
from agents.errors import Interrupted
from chat.models import Conversation, Run, RunStatus, User
from chat.runs.ending import give_up
from chat.runs.worker.claim import claim
from chat.stream.channel import Channel
from chat.stream.frames import encode, run_ended
from chat.stream.server_events import ThoughtDelta
from chat.stream.streams import run_key
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
Claimed = Callable[[], Awaitable[tuple[Run, Channel]]]


def delta(text: str) -> ThoughtDelta:
    return ThoughtDelta(type="thought.delta", index=0, text=text)


def end(channel: Channel) -> None:
    event = run_ended("succeeded", "answered", "")
    channel.put_reserved(channel.reserve(), event, ends=True)
    channel.close()


@contextmanager
def words_written(channel: Channel, count: int, seed: int) -> Iterator[None]:
    """Write numbered words in a thread, at an uneven pace, then end the run."""
    pause = threading.Event()
    chance = random.Random(seed)  # noqa: S311

    def write() -> None:
        for number in range(count):
            channel.put(delta(f"{number} "))
            pause.wait(chance.choice((0, 0, 0.002, 0.01)))
        end(channel)

    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join()


@pytest.mark.parametrize("seed", range(4))
async def test_a_page_reloaded_at_random_moments_loses_and_repeats_nothing(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed, seed: int
) -> None:
    run, channel = await claimed()
    chance = random.Random(seed)  # noqa: S311

    async def watch_with_reloads() -> str:
        cursor, text, has_ended = "1-0", "", False
        while not has_ended:
            page = await page_of(ada, conversation)
            await page.say({"type": "hello", "cursors": {str(run.pk): cursor}, "after": run.pk})
            for _ in range(chance.randrange(1, 12)):
                frame = await page.next()
                assert frame["type"] in ("events", "caught_up")
                if frame["type"] == "events":
                    cursor = frame["id"]
                    has_ended = frame["events"][-1]["type"] == "run.ended"
                if has_ended:
                    break
            text += page.text(run.pk)
            await page.leave()
        return text

    with words_written(channel, count=300, seed=seed):
        seen = await asyncio.gather(*(watch_with_reloads() for _ in range(3)))

    assert set(seen) == {"".join(f"{number} " for number in range(300))}


async def test_a_page_opened_late_is_sent_what_it_missed_before_it_has_caught_up(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    for number in range(50):
        channel.put(delta(f"{number} "))
        channel.seal()
    assert await asyncio.to_thread(here().publisher.flush, 10)
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-7"}, after=run.pk)

    assert page.text(run.pk) == "".join(f"{number} " for number in range(7, 50))


async def test_what_lies_behind_a_gap_of_the_backlog_is_sent_after_what_is_stored(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed, valkey: Redis
) -> None:
    run, _ = await claimed()
    for place, text in (("1-1", "seen "), ("1-2", "next "), ("1-7", "behind")):
        valkey.xadd(run_key(run.pk), {"d": encode([delta(text)])}, id=place)
    await Run.objects.filter(pk=run.pk).aupdate(stream_id="1-6")
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-1"}, after=run.pk)

    shown = [frame for frame in page.frames if frame["type"] in ("events", "run.snapshot")]
    assert [(frame["type"], frame["id"]) for frame in shown] == [
        ("events", "1-2"),
        ("run.snapshot", "1-6"),
        ("events", "1-7"),
    ]


async def test_a_page_that_is_further_behind_than_the_stream_is_sent_what_is_stored(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed, valkey: Redis
) -> None:
    run, channel = await claimed()
    for number in range(50):
        channel.put(delta(f"{number} "))
        channel.seal()
    assert await asyncio.to_thread(here().publisher.flush, 10)
    valkey.xtrim(run_key(run.pk), maxlen=20, approximate=False)
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-7"}, after=run.pk)

    assert [frame["type"] for frame in page.frames] == ["run.snapshot", "events", "caught_up"]
    assert page.frames[0]["id"] == "1-0"
    assert page.text(run.pk) == "".join(f"{number} " for number in range(30, 50))


async def test_frames_that_redis_lost_are_made_good_by_what_is_stored(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed, valkey: Redis
) -> None:
    run, channel = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel.put(delta("seen "))
    await page.until(lambda frame: frame["type"] == "events")
    channel.seal()
    channel.reserve()  # the id of a frame that never comes
    channel.put(delta("after"))
    snapshot = await page.until(lambda frame: frame["type"] == "run.snapshot")
    page.frames.clear()  # as the page does, which shows the snapshot instead
    await page.until(lambda frame: page.text(run.pk) == "seen after")
    end(channel)
    await page.end_of(run.pk)

    assert f'id="run-{run.pk}"' in snapshot["html"]
    assert "run.snapshot" not in {frame["type"] for frame in page.frames}


async def test_a_new_attempt_is_shown_from_what_is_stored(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel.put(delta("of the first worker"))
    await page.until(lambda frame: frame["type"] == "events")
    await Run.objects.filter(pk=run.pk).aupdate(status=RunStatus.INTERRUPTED, lease_until=None)
    await database_sync_to_async(claim)(run.pk, "another worker")
    second = here().publisher.open(run.pk, 2, Control())
    second.put({"type": "run.started", "attempt": 2})
    snapshot = await page.until(lambda frame: frame["type"] == "run.snapshot")
    started = await page.until(lambda frame: frame["type"] == "events")

    assert snapshot["id"] == "2-0"
    assert (started["id"], started["events"][0]["attempt"]) == ("2-1", 2)


async def test_a_worker_that_lost_its_run_is_refused_by_the_stream(claimed: Claimed) -> None:
    run, _ = await claimed()
    control = Control()
    zombie = here().publisher.open(run.pk, 1, control)
    newer = here().publisher.open(run.pk, 2, Control())
    newer.put(delta("mine"))
    assert await asyncio.to_thread(here().publisher.flush, 10)
    zombie.put(delta("too late"))
    assert await asyncio.to_thread(here().publisher.flush, 10)

    with pytest.raises(Interrupted):
        control.check()


async def test_a_page_of_an_ended_run_is_sent_how_it_ended(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, _ = await claimed()
    await Run.objects.filter(pk=run.pk).aupdate(
        status=RunStatus.FAILED,
        lease_until=None,
        ended_at=timezone.now(),
        message="The model is down.",
        stream_id="1-9",
    )
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-3"}, after=run.pk)

    snapshot, _ = page.frames
    assert (snapshot["type"], snapshot["id"]) == ("run.snapshot", "1-9")
    assert "The model is down." in snapshot["html"]


async def test_redis_restarting_empty_does_not_end_the_watching(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed, valkey: Redis
) -> None:
    run, channel = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel.put(delta("before "))
    await page.until(lambda frame: frame["type"] == "events")
    valkey.delete(run_key(run.pk))
    valkey.client_kill_filter(_type="normal", skipme=True)
    channel.put(delta("after"))
    await page.until(lambda frame: frame["type"] == "events")

    assert page.text(run.pk) == "before after"


async def test_two_pages_see_the_same_text(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    pages = [await page_of(ada, conversation) for _ in range(2)]
    for page in pages:
        await page.hello({str(run.pk): "1-0"}, after=run.pk)
    with words_written(channel, count=100, seed=1):
        await asyncio.gather(*(page.end_of(run.pk) for page in pages))

    assert pages[0].text(run.pk) == pages[1].text(run.pk)
    assert pages[0].text(run.pk).split() == [str(number) for number in range(100)]


async def test_a_page_that_has_read_on_is_shown_that_its_run_was_given_up(
    page_of: PageOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    page = await page_of(ada, conversation)
    await page.hello({str(run.pk): "1-0"}, after=run.pk)
    channel.put(delta("hm"))
    await page.until(lambda frame: frame["type"] == "events")
    await database_sync_to_async(give_up)(run, "It cannot be written down.")
    end = await page.end_of(run.pk)

    attempt, _, seq = end["id"].partition("-")
    assert (int(attempt), int(seq)) > (1, 1)
    assert "It cannot be written down." in str(end)
