"""What a page that comes back is told of its conversation's newer runs."""

import threading
from collections.abc import Callable

from channels.db import database_sync_to_async

from chat.live.access import in_database, news
from chat.models import Conversation, Run


async def test_only_runs_that_are_newer_are_news(
    conversation: Conversation, asked: Callable[..., Run]
) -> None:
    runs = [await database_sync_to_async(asked)([]) for _ in range(3)]

    told = await in_database(news, runs[0].conversation, runs[0].pk)

    assert [one.run_id for one in told] == [run.pk for run in runs[1:]]
    assert await in_database(news, runs[0].conversation, runs[-1].pk) == []


async def test_pages_read_the_record_in_threads_of_their_own() -> None:
    name = await in_database(lambda: threading.current_thread().name)
    assert name.startswith("live-records")
