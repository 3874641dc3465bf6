"""A page that comes back is told of no run and no frame twice; who asks again is answered again."""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import redis
from channels.db import database_sync_to_async
from django.db import connection, transaction
from django.db.models.functions import Now

from chat.models import Conversation, PolicyVersion, Run, User
from chat.runs.lease import fence
from chat.stream.channel import Channel
from chat.stream.frames import run_ended
from chat.stream.streams import conversation_key

BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"


@asynccontextmanager
async def runs_unreadable() -> AsyncIterator[None]:
    """Let nobody read a run for the length of a block."""
    is_locked, is_over = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE chat_run IN ACCESS EXCLUSIVE MODE")
            is_locked.set()
            is_over.wait()
        connection.close()

    locking = threading.Thread(target=lock)
    locking.start()
    await asyncio.to_thread(is_locked.wait)
    try:
        yield
    finally:
        is_over.set()
        await asyncio.to_thread(locking.join)


def is_somebody_blocked() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(BLOCKED)
        return bool(cursor.fetchone()[0])


async def test_news_that_come_again_while_a_page_comes_back_send_it_nothing_twice(
    page_of: Callable[..., Awaitable[Any]],
    ada: User,
    conversation: Conversation,
    claimed: Callable[[], Awaitable[tuple[Run, Channel]]],
    valkey: "redis.Redis",
) -> None:
    run, channel = await claimed()
    watching = await page_of(ada, conversation)
    await watching.hello(after=run.pk)
    page = await page_of(ada, conversation)
    async with runs_unreadable():
        await page.say({"type": "hello", "cursors": {str(run.pk): "0-0"}, "after": 0})
        async with asyncio.timeout(20):
            while not await database_sync_to_async(is_somebody_blocked)():
                pass
        # As after Redis was away: what it had, or what was told late, comes from the beginning.
        news: dict[Any, Any] = {"d": '{"type":"run.created","run":0}', "run": run.pk}
        for _ in range(2):
            valkey.xadd(conversation_key(conversation.pk), news)
        other: dict[Any, Any] = {"d": '{"type":"heartbeat"}', "run": run.pk + 1}
        valkey.xadd(conversation_key(conversation.pk), other)
        await watching.until(lambda frame: frame["type"] == "heartbeat")
    await page.until(lambda frame: frame["type"] == "caught_up")
    channel.put({"type": "thought.delta", "index": 0, "text": "Once."})
    channel.put_reserved(channel.reserve(), run_ended("failed", "internal", ""), ends=True)
    await page.until(lambda frame: any(e["type"] == "run.ended" for e in frame.get("events", ())))
    await page.say({"type": "ping", "answer": True})
    await page.until(lambda frame: frame["type"] == "heartbeat")

    assert "run.created" not in {frame["type"] for frame in page.frames}
    assert page.text(run.pk) == "Once."
    assert [event["type"] for event in page.events(run.pk)].count("run.ended") == 1


async def test_runs_that_have_ended_are_not_told_anew_while_a_page_comes_back(
    page_of: Callable[..., Awaitable[Any]],
    ada: User,
    conversation: Conversation,
    claimed: Callable[[], Awaitable[tuple[Run, Channel]]],
    valkey: "redis.Redis",
) -> None:
    run, channel = await claimed()
    channel.put({"type": "thought.delta", "index": 0, "text": "Before."})
    await database_sync_to_async(fence)(
        run, status="stopped", reason="stopped", lease_until=None, ended_at=Now()
    )
    watching = await page_of(ada, conversation)
    await watching.hello(after=run.pk)
    page = await page_of(ada, conversation)
    async with runs_unreadable():
        await page.say({"type": "hello", "cursors": {}, "after": 0})
        async with asyncio.timeout(20):
            while not await database_sync_to_async(is_somebody_blocked)():
                pass
        for number, frame in ((run.pk, "run.created"), (run.pk + 1, "heartbeat")):
            news: dict[Any, Any] = {"d": f'{{"type":"{frame}","run":{number}}}', "run": number}
            valkey.xadd(conversation_key(conversation.pk), news)
        await watching.until(lambda frame: frame["type"] == "heartbeat")
    await page.until(lambda frame: frame["type"] == "heartbeat")
    await page.say({"type": "ping", "answer": True})
    await page.until(lambda frame: frame["type"] == "heartbeat")

    assert [frame["run"] for frame in page.frames if frame["type"] == "run.created"] == [run.pk]
    assert page.events(run.pk) == []


async def test_a_question_that_is_sent_again_is_answered_again(
    page_of: Callable[..., Awaitable[Any]],
    ada: User,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
) -> None:
    version = await database_sync_to_async(scripted)([])
    question = {"client_message_id": str(uuid.uuid4()), "policy": version.policy.slug}
    page = await page_of(ada, conversation)
    await page.hello()
    answers = []
    for _ in range(3):
        await page.say({"type": "send", "text": "2 + 2?", **question})
        answers.append(await page.until(lambda frame: frame["type"] == "run.created"))

    assert len({answer["run"] for answer in answers}) == 1
