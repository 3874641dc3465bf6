"""Nobody sees or touches a conversation that is not theirs, nor learns that it is there."""

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session

from chat.models import Conversation, Run, User

PageOf = Callable[..., Awaitable[Any]]


async def test_nobody_signed_in_is_turned_away(page_of: PageOf, conversation: Conversation) -> None:
    page = await page_of(None, conversation)
    assert await page.closed() == 4401
    assert page.frames == []


@pytest.mark.parametrize("number", ["another's", "none at all"])
async def test_a_stranger_cannot_tell_anothers_conversation_from_none(
    page_of: PageOf, bob: User, conversation: Conversation, number: str
) -> None:
    page = await page_of(bob, conversation if number == "another's" else 2**70)
    await page.say({"type": "hello", "cursors": {}, "after": 0})
    assert await page.closed() == 4404
    assert page.frames == []


async def test_a_run_of_another_conversation_is_not_followed(
    page_of: PageOf, bob: User, asked: Callable[..., Run]
) -> None:
    secret = await database_sync_to_async(asked)([{"say": "Final Answer: the secret"}])
    own = await Conversation.objects.acreate(owner=bob)
    page = await page_of(bob, own)
    await page.hello({str(secret.pk): "0-0", str(secret.pk + 1000): "0-0"})

    assert [frame["type"] for frame in page.frames] == ["error", "caught_up"]
    assert page.frames[0]["code"] == "not_found"


@pytest.mark.parametrize("exists", [True, False])
async def test_a_run_of_another_conversation_is_neither_stopped_nor_revealed(
    page_of: PageOf, bob: User, asked: Callable[..., Run], exists: bool
) -> None:
    run = await database_sync_to_async(asked)([{"say": "Final Answer: 4"}])
    own = await Conversation.objects.acreate(owner=bob)
    page = await page_of(bob, own)
    await page.say({"type": "stop", "run": run.pk if exists else run.pk + 1000})

    error = await page.error()
    await run.arefresh_from_db()
    assert (error["code"], error["message"]) == ("not_found", "There is no such run here.")
    assert (run.status, run.stop_requested_at) == ("queued", None)


async def test_a_question_cannot_follow_a_run_of_another_conversation(
    page_of: PageOf, bob: User, asked: Callable[..., Run]
) -> None:
    run = await database_sync_to_async(asked)([{"say": "Final Answer: 4"}])
    own = await Conversation.objects.acreate(owner=bob)
    page = await page_of(bob, own)
    message_id = str(uuid.uuid4())
    await page.say(
        {
            "type": "send",
            "client_message_id": message_id,
            "text": "And then?",
            "policy": "explicit",
            "parent": run.pk,
        }
    )

    error = await page.error()
    assert (error["code"], error["client_message_id"]) == ("not_found", message_id)
    assert not await own.runs.aexists()


async def test_a_reviewer_may_watch_but_neither_ask_nor_stop(
    page_of: PageOf, bob: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    await bob.groups.aadd((await Group.objects.aget_or_create(name="reviewer"))[0])
    run = await database_sync_to_async(asked)([{"say": "Final Answer: 4"}])
    page = await page_of(bob, conversation)
    await page.hello()
    await page.say({"type": "stop", "run": run.pk})
    stop = await page.error()
    await page.say(
        {"type": "send", "client_message_id": str(uuid.uuid4()), "text": "Hi", "policy": "explicit"}
    )
    send = await page.error()

    assert page.frames[0]["type"] == "run.created"
    assert {stop["code"], send["code"]} == {"forbidden"}
    assert await conversation.runs.acount() == 1


async def test_a_socket_does_not_outlive_its_session(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = await database_sync_to_async(asked)([{"say": "Final Answer: 4"}])
    page = await page_of(ada, conversation)
    await page.hello()
    await Session.objects.all().adelete()
    await page.say({"type": "stop", "run": run.pk})

    assert await page.closed() == 4401
    await run.arefresh_from_db()
    assert run.stop_requested_at is None


async def test_a_socket_does_not_outlive_its_account(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    ada.is_active = False
    await ada.asave()
    await page.say({"type": "hello", "cursors": {}, "after": 0})
    assert await page.closed() == 4401
