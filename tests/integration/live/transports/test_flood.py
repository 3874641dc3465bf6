"""A client that sends more than any page would is cut off, and costs no more than that."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat.live.inbox import BURST, MAX_CHARACTERS, Inbox
from chat.models import Conversation, User

PageOf = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    "message",
    ['{"type":"ping"}', "{broken", '{"type":"hello","cursors":{},"after":0}'],
    ids=("pings", "rubbish", "hellos"),
)
async def test_a_flood_of_messages_ends_the_line(
    page_of: PageOf, ada: User, conversation: Conversation, message: str
) -> None:
    flooding, other = [await page_of(ada, conversation) for _ in range(2)]
    for _ in range(2 * BURST):
        await flooding.say(message)
    code = await flooding.closed()
    await other.hello()

    assert code == 4429
    assert other.close_code is None


async def test_what_a_page_sends_in_a_moment_is_no_flood(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    for _ in range(20):
        await page.say({"type": "ping"})
    await page.hello()

    assert page.close_code is None


def test_few_but_long_messages_are_a_flood_too() -> None:
    inbox = Inbox()
    longest = "x" * (MAX_CHARACTERS // 2)

    assert [inbox.put(longest) for _ in range(3)] == [True, True, False]


async def test_messages_are_taken_in_order_and_make_room() -> None:
    inbox = Inbox()
    for text in ("one", "x" * MAX_CHARACTERS, "three"):
        inbox.put(text)

    assert [await inbox.get() for _ in range(3)] == ["one", "x" * MAX_CHARACTERS, "three"]
    assert inbox.put("y" * MAX_CHARACTERS)
