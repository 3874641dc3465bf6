"""A page that does not read costs bounded memory: it is cut off, and may resume."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async

from agents.control import Control
from chat.live.consumers import MAX_UNREAD
from chat.models import Conversation, Run, User
from chat.runs.worker.claim import claim
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
PIECE = "x" * 1_000_000


async def test_a_page_that_never_says_it_has_read_is_cut_off(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    silent, reading = [await page_of(ada, conversation) for _ in range(2)]
    run = await database_sync_to_async(asked)([])
    await database_sync_to_async(claim)(run.pk, "this test")
    channel = here().publisher.open(run.pk, 1, Control())
    for page in (silent, reading):
        await page.hello({str(run.pk): "1-0"}, after=run.pk)
    for _ in range(MAX_UNREAD // len(PIECE) + 1):
        channel.put({"type": "observation.delta", "index": 0, "position": 0, "text": PIECE})
        assert await asyncio.to_thread(here().publisher.flush, 10)
        await reading.until(lambda frame: frame["type"] == "events")
        await reading.say({"type": "ping"})

    assert await silent.closed() == 4408
    assert reading.close_code is None
