"""A run that was stored and never announced is shown all the same."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from django.db import connection, transaction

from chat.models import Conversation, Run, User
from chat.runs.stop import request_stop
from tests.worker_stage.proxy import Proxy
from tests.worker_stage.worker import redis_address

PageOf = Callable[..., Awaitable[Any]]
Asked = Callable[..., Run]


def asked_by_one_who_dies(asked: Asked) -> Run:
    """Store a run as a process does that is killed as soon as the row is committed."""
    with transaction.atomic():
        run = asked([])
        connection.run_on_commit.clear()
    return run


async def test_a_page_is_told_of_a_run_that_nobody_announced(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    run = await database_sync_to_async(asked_by_one_who_dies)(asked)

    created = await page.until(lambda frame: frame["type"] == "run.created")

    assert created["run"] == run.pk


async def test_a_page_that_comes_while_redis_hangs_is_shown_what_is_stored(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked, settings: Any
) -> None:
    runs = [await database_sync_to_async(asked)([]) for _ in range(4)]
    with Proxy(redis_address(settings.REDIS_URL)) as redis:
        settings.REDIS_URL = f"redis://127.0.0.1:{redis.port}/0"
        redis.hang()
        page = await page_of(ada, conversation)
        await page.hello({str(run.pk): "0-0" for run in runs}, after=runs[-1].pk)
        await database_sync_to_async(request_stop)(runs[0])

        await page.until(lambda frame: 'data-status="stopped"' in frame.get("html", ""))


async def test_a_page_is_told_of_it_once_and_also_where_a_later_one_was_announced(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    untold = await database_sync_to_async(asked_by_one_who_dies)(asked)
    told, last = [await database_sync_to_async(asked)([]) for _ in range(2)]
    await page.until(lambda frame: frame.get("run") == untold.pk)
    await database_sync_to_async(request_stop)(last)
    await page.end_of(last.pk)

    created = [frame["run"] for frame in page.frames if frame["type"] == "run.created"]
    assert sorted(created) == [untold.pk, told.pk, last.pk]


async def test_a_page_is_not_told_of_another_conversation(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    other = await Conversation.objects.acreate(owner=ada)
    page = await page_of(ada, other)
    await page.hello()
    watching = await page_of(ada, conversation)
    await watching.hello()
    await database_sync_to_async(asked_by_one_who_dies)(asked)
    await watching.until(lambda frame: frame["type"] == "run.created")

    await page.say({"type": "hello", "cursors": {}, "after": 0})
    await page.until(lambda frame: frame["type"] == "caught_up")
    assert "run.created" not in {frame["type"] for frame in page.frames}


async def test_a_page_that_comes_back_after_a_later_run_is_told_of_the_untold_one_before_it(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Asked
) -> None:
    page = await page_of(ada, conversation)
    await page.say({"type": "hello", "cursors": {}, "after": 0})
    settled = await page.until(lambda frame: frame["type"] == "caught_up")
    untold = await database_sync_to_async(asked_by_one_who_dies)(asked)
    told = await database_sync_to_async(asked)([])
    await page.until(lambda frame: frame.get("run") == told.pk)
    await page.leave()

    again = await page_of(ada, conversation)
    cursors = {str(told.pk): "0-0"}
    await again.say({"type": "hello", "cursors": cursors, "after": settled["after"]})
    caught_up = await again.until(lambda frame: frame["type"] == "caught_up")

    created = [frame["run"] for frame in again.frames if frame["type"] == "run.created"]
    assert untold.pk in created
    assert caught_up["after"] == told.pk
