"""A page follows runs live, from wherever it stands."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async

from chat.live import viewer
from chat.models import Conversation, Run, User

PageOf = Callable[..., Awaitable[Any]]
ACTION = 'Thought: I should compute.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
ANSWER = "Thought: I know now.\nFinal Answer: It is four."


async def test_a_page_sees_a_run_from_its_start_to_its_end(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Callable[..., Run], working: Any
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    run = await database_sync_to_async(asked)(
        [{"say": ACTION}, {"say": ANSWER}], tools=("calculator",)
    )
    async with working(run):
        end = await page.end_of(run.pk)

    kinds = [event["type"] for event in page.events(run.pk)]
    assert kinds == [
        "run.started",
        "turn.started",
        "thought.delta",
        "actions.proposed",
        "action.started",
        "observation.delta",
        "turn.completed",
        "turn.started",
        "thought.delta",
        "answer.delta",
        "turn.completed",
        "run.ended",
    ]
    assert end["events"][-1]["status"] == "succeeded"
    assert "It is four." in end["events"][-1]["html"]


async def test_a_page_that_asks_whether_its_line_lives_is_answered_at_once(
    page_of: PageOf, ada: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "HEARTBEAT_SECONDS", 1000)
    page = await page_of(ada, conversation)
    await page.hello()

    await page.say({"type": "ping", "answer": True})

    await page.until(lambda frame: frame["type"] == "heartbeat")


async def test_a_page_is_told_once_in_a_while_that_its_line_lives(
    page_of: PageOf, ada: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "HEARTBEAT_SECONDS", 0.02)
    page = await page_of(ada, conversation)

    for _ in range(2):
        await page.until(lambda frame: frame["type"] == "heartbeat")
