"""A team watches what is asked in its space; who is not of it, or not any more, does not."""

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async

from chat.models import Conversation, Membership, Run, Space, User

PageOf = Callable[..., Awaitable[Any]]
EventsOf = Callable[..., Awaitable[Any]]


@pytest.fixture
def run(ask_in: Callable[..., Run], ada: User, team: Space) -> Run:
    """Ask as Ada in the team's space."""
    home = Conversation.objects.create(owner=ada, space=team)
    return ask_in(home, [{"say": "Final Answer: 4"}])


@pytest.fixture
def eve(transactional_db: None) -> User:
    """Make a member who belongs to no team."""
    return User.objects.create_user("eve")


async def test_a_teammate_watches_but_neither_asks_nor_stops(
    page_of: PageOf, run: Run, bob: User
) -> None:
    page = await page_of(bob, run.conversation)
    await page.hello()
    await page.say({"type": "stop", "run": run.pk})
    stop = await page.error()
    question = {"text": "Hi", "policy": "explicit", "client_message_id": str(uuid.uuid4())}
    await page.say({"type": "send"} | question)
    send = await page.error()

    assert page.frames[0]["type"] == "run.created"
    assert {stop["code"], send["code"]} == {"forbidden"}
    assert await Run.objects.acount() == 1


async def test_a_stranger_cannot_tell_a_teams_conversation_from_none(
    page_of: PageOf, events_of: EventsOf, run: Run, eve: User
) -> None:
    page = await page_of(eve, run.conversation)
    events = await events_of(eve, run.conversation)
    await page.say({"type": "hello", "cursors": {}, "after": 0})

    assert await page.closed() == 4404
    assert page.frames == []
    assert events.status == 404


@pytest.mark.parametrize("who", ["ada", "bob"])
async def test_who_leaves_a_team_watches_it_no_longer_from_that_moment(
    page_of: PageOf, events_of: EventsOf, run: Run, ada: User, bob: User, who: str
) -> None:
    leaver, other = (ada, bob) if who == "ada" else (bob, ada)
    page = await page_of(leaver, run.conversation)
    events = await events_of(leaver, run.conversation)
    stays = await page_of(other, run.conversation)
    for one in (page, stays):
        await one.hello()
    await events.until(lambda frame: frame["type"] == "caught_up")

    part = await Membership.objects.aget(user=leaver)
    await database_sync_to_async(part.delete)()

    assert await page.closed() == 4404
    assert (await events.until(lambda frame: frame["type"] == "closed"))["code"] == 4404
    await stays.hello()
    assert stays.close_code is None


async def test_who_may_not_ask_in_a_team_is_told_so(page_of: PageOf, run: Run, ada: User) -> None:
    await Membership.objects.filter(user=ada).aupdate(role="reviewer")
    page = await page_of(ada, run.conversation)
    question = {"text": "Hi", "policy": "explicit", "client_message_id": str(uuid.uuid4())}
    await page.say({"type": "send"} | question)

    error = await page.error()

    assert "team's space" in error["message"]
    assert await Run.objects.acount() == 1
