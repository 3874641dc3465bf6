"""An approval is answered over the line, once, from any tab, by the owner alone."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import Group

from chat.models import Approval, Conversation, Run, User
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
SUM = 'Thought: I reckon.\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
SCRIPT = [{"say": SUM}, {"say": "Final Answer: Done."}]


@pytest.fixture
def parked(asked: Callable[..., Run]) -> Callable[[], Awaitable[Approval]]:
    """Give the approval that a run of Ada's waits for."""

    def park() -> Approval:
        run = asked(SCRIPT, tools=("calculator",), approve=("calculator",))
        here().work(run.pk)
        return Approval.objects.select_related("run").get(run=run)

    return database_sync_to_async(park)


def answer(approval: Approval, decision: str = "grant", **fields: Any) -> dict[str, Any]:
    return {"type": "approve", "approval": approval.pk, "decision": decision} | fields


def tells(kind: str) -> Callable[[dict[str, Any]], bool]:
    return lambda frame: any(event["type"] == kind for event in frame.get("events", ()))


async def test_every_tab_sees_the_question_and_the_answer_from_one(
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    parked: Callable[[], Awaitable[Approval]],
) -> None:
    pages = [await page_of(ada, conversation) for _ in range(2)]
    for page in pages:
        await page.hello()
    asked = await parked()
    for page in pages:
        await page.until(tells("approval.requested"))
    await pages[0].say(answer(asked))
    for page in pages:
        await page.until(tells("approval.decided"))
    await database_sync_to_async(here().work)(asked.run_id)

    for page in pages:
        await page.end_of(asked.run_id)
    await asked.run.arefresh_from_db()
    assert (asked.run.status, asked.run.answer) == ("succeeded", "Done.")


async def test_the_second_tab_is_told_that_it_was_answered_otherwise(
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    parked: Callable[[], Awaitable[Approval]],
) -> None:
    asked = await parked()
    page = await page_of(ada, conversation)
    await page.hello({str(asked.run_id): "0-0"}, after=asked.run_id)
    await page.say(answer(asked, "deny", feedback="No."))
    await page.until(tells("approval.decided"))
    await page.say(answer(asked))

    error = await page.error()
    await asked.arefresh_from_db()
    assert (error["code"], error["message"]) == ("answered", "This was refused already.")
    assert (asked.status, asked.feedback) == ("denied", "No.")


async def test_a_page_that_comes_later_finds_the_question(
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    parked: Callable[[], Awaitable[Approval]],
) -> None:
    asked = await parked()
    page = await page_of(ada, conversation)
    await page.hello()

    created = next(frame for frame in page.frames if frame["type"] == "run.created")
    assert f'data-approval="{asked.pk}"' in created["html"]
    assert 'data-status="waiting"' in created["html"]


async def test_a_reviewer_sees_the_question_and_cannot_answer_it(
    page_of: PageOf,
    bob: User,
    conversation: Conversation,
    parked: Callable[[], Awaitable[Approval]],
) -> None:
    asked = await parked()
    await bob.groups.aadd((await Group.objects.aget_or_create(name="reviewer"))[0])
    page = await page_of(bob, conversation)
    await page.say(answer(asked))

    error = await page.error()
    await asked.arefresh_from_db()
    assert (error["code"], asked.status) == ("forbidden", "pending")


@pytest.mark.parametrize("exists", [True, False])
async def test_an_approval_of_another_conversation_is_neither_answered_nor_revealed(
    page_of: PageOf, bob: User, parked: Callable[[], Awaitable[Approval]], exists: bool
) -> None:
    asked = await parked()
    own = await Conversation.objects.acreate(owner=bob)
    page = await page_of(bob, own)
    message = answer(asked)
    if not exists:
        await database_sync_to_async(asked.delete)()
    await page.say(message)

    error = await page.error()
    assert (error["code"], error["message"]) == ("not_found", "There is no such approval here.")
    if exists:
        await asked.arefresh_from_db()
        assert asked.status == "pending"


@pytest.mark.parametrize(
    "fields",
    [{"decision": "maybe"}, {"approval": "all"}, {"feedback": "x" * 4001}, {"feedback": None}],
    ids=json.dumps,
)
async def test_an_answer_that_is_none_is_refused(
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    parked: Callable[[], Awaitable[Approval]],
    fields: dict[str, Any],
) -> None:
    asked = await parked()
    page = await page_of(ada, conversation)
    await page.say(answer(asked) | fields)

    error = await page.error()
    await asked.arefresh_from_db()
    assert (error["code"], asked.status) == ("wrong_shape", "pending")
