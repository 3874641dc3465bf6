"""Pages that leave at any moment leave nothing behind in the server."""

import asyncio
import gc
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from autobahn.exception import Disconnected
from channels.db import database_sync_to_async
from django.test import Client

from chat.live import conversation_follower
from chat.live.reader import reader
from chat.live.viewer import Viewer
from chat.models import Conversation, Run, User
from chat.runs.stop import stop
from project.asgi import application

OpenPage = Callable[..., Awaitable[Any]]
CHANCE = random.Random(3)  # noqa: S311


async def nothing_is_left() -> None:
    for _ in range(400):
        tasks = [task for task in asyncio.all_tasks() if "_serve" in repr(task)]
        if not tasks and not list(reader().followers()):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"Left behind: {tasks}, {list(reader().followers())}")


async def test_a_socket_that_is_lost_while_it_says_hello_is_forgotten(
    page_of: OpenPage, ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = await database_sync_to_async(asked)([])

    async def come_and_go() -> None:
        page = await page_of(ada, conversation)
        await page.say({"type": "hello", "cursors": {str(run.pk): "0-0"}, "after": run.pk})
        await asyncio.sleep(CHANCE.random() * 0.05)
        await page.leave()

    for _ in range(15):
        await asyncio.gather(*(come_and_go() for _ in range(8)))

    await nothing_is_left()


async def test_a_page_that_goes_while_it_is_let_in_is_looked_after_no_more(
    ada: User, conversation: Conversation
) -> None:
    client = Client()
    await database_sync_to_async(client.force_login)(ada)

    async def hear(_: object) -> None:
        """Take what the page is told, and keep nothing."""

    viewer = Viewer(conversation.pk, client.session.session_key, hear, hear, 1_000)
    opening = asyncio.create_task(viewer.open())
    await asyncio.sleep(0)  # it asks the record who this is
    await viewer.close()
    await opening

    assert list(reader().followers()) == []


async def test_a_response_that_is_lost_while_it_begins_is_forgotten(
    events_of: OpenPage, ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = await database_sync_to_async(asked)([])

    async def come_and_go() -> None:
        page = await events_of(ada, conversation, f"after={run.pk}&cursors={run.pk}:0-0")
        await asyncio.sleep(CHANCE.random() * 0.05)
        await page.leave()

    for _ in range(8):
        await asyncio.gather(*(come_and_go() for _ in range(8)))

    await nothing_is_left()


async def test_a_socket_that_is_gone_before_anybody_knows_is_no_error(
    page_of: OpenPage,
    ada: User,
    conversation: Conversation,
    caplog: pytest.LogCaptureFixture,
) -> None:
    was_refused = asyncio.Event()

    async def gone(scope: Any, receive: Any, send: Any) -> None:
        async def refuse(message: Any) -> None:
            if message["type"] == "websocket.send":
                was_refused.set()
                raise Disconnected("Attempt to send on a closed protocol")
            await send(message)

        await application(scope, receive, refuse)

    with caplog.at_level(logging.WARNING):
        page = await page_of(ada, conversation, server=gone)
        await page.say({"type": "hello", "cursors": {}, "after": 0})
        await was_refused.wait()
        await page.leave()
        await nothing_is_left()

    assert not [record for record in caplog.records if record.name.startswith("chat.live")]


async def test_a_page_that_stays_for_long_leaves_the_runs_behind_that_have_ended(
    page_of: OpenPage,
    ada: User,
    conversation: Conversation,
    asked: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation_follower, "MAX_TOLD", 6)
    page = await page_of(ada, conversation)
    await page.hello()
    (viewer,) = [one for one in viewers() if one.is_open]
    for _ in range(16):
        run = await database_sync_to_async(asked)([])
        await database_sync_to_async(stop)(run)
        await page.end_of(run.pk)
    last = await database_sync_to_async(asked)([])
    await page.until(lambda frame: frame.get("run") == last.pk)

    assert len(viewer._follower._runs) <= 2
    assert len(viewer._follower.told) <= 7
    created = [frame["run"] for frame in page.frames if frame["type"] == "run.created"]
    assert len(created) == len(set(created)) == 17


def viewers() -> list[Viewer]:
    return [one for one in gc.get_objects() if type(one) is Viewer]
