"""How many pages a process serves is told to those who watch over it."""

from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from prometheus_client import REGISTRY

from chat.models import Conversation, Run, User
from chat.stream.streams import client, run_key
from tests.integration.here import here


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_live_pages_are_counted_while_they_are_there(
    page_of: Callable[..., Awaitable[Any]], ada: User, conversation: Conversation
) -> None:
    before = figure("turnstone_viewers")
    first = await page_of(ada, conversation)
    await first.hello()
    second = await page_of(ada, conversation)
    await second.hello()
    both = figure("turnstone_viewers")

    await first.leave()

    assert (both, figure("turnstone_viewers")) == (before + 2, before + 1)


async def test_a_page_that_is_turned_away_is_counted_by_its_code(
    page_of: Callable[..., Awaitable[Any]], bob: User, conversation: Conversation
) -> None:
    before = figure("turnstone_viewers_closed_total", code="4404")

    page = await page_of(bob, conversation)

    assert await page.closed() == 4404
    assert figure("turnstone_viewers_closed_total", code="4404") == before + 1


async def test_a_run_that_is_sent_as_it_is_stored_is_counted(
    page_of: Callable[..., Awaitable[Any]],
    ada: User,
    conversation: Conversation,
    asked: Callable[..., Run],
) -> None:
    ended = await database_sync_to_async(lambda: _ended(asked))()
    before = figure("turnstone_snapshots_total")
    page = await page_of(ada, conversation)

    await page.say({"type": "hello", "cursors": {str(ended.pk): "0-0"}, "after": ended.pk})
    await page.end_of(ended.pk)

    assert figure("turnstone_snapshots_total") == before + 1


def _ended(asked: Callable[..., Run]) -> Run:
    run = asked([{"say": "Final Answer: 4"}])
    here().work(run.pk)
    client().delete(run_key(run.pk))  # as Redis does ten minutes after the end
    return run
