"""One task reads for all the pages of a web process, however they come and go."""

import asyncio
import time

import pytest

from chat.live.reader import Entry, Reader
from chat.stream.streams import StreamId


class Follows:
    """A follower that is never told anything."""

    key = "run:0"
    cursor = StreamId(0, 0)

    async def deliver(self, entries: list[Entry]) -> None:
        raise AssertionError("There is nothing in this stream.")

    def recover(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("steps", range(40))
async def test_the_task_of_a_page_that_left_does_not_read_for_the_next_one(
    valkey: object, steps: int
) -> None:
    others = asyncio.all_tasks()
    reader, leaves, comes = Reader(), Follows(), Follows()
    reader.follow(leaves)
    for _ in range(steps):
        time.sleep(0.001)  # noqa: ASYNC251 - what was sent is answered, so each step is the next
        await asyncio.sleep(0)
    leaving = asyncio.create_task(reader.leave(leaves))
    await asyncio.sleep(0)
    reader.follow(comes)

    async with asyncio.timeout(10):
        await leaving  # for the end of the first page's task, which the second page's is not
    await reader.leave(comes)
    assert asyncio.all_tasks() == others


async def test_a_stream_that_is_not_there_begins_at_its_beginning(valkey: object) -> None:
    assert await Reader().top("conversation:0") == StreamId(0, 0)
