"""What is over is over on every page at once, not at the next look half a minute later."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from channels.db import database_sync_to_async
from django.db import connection
from django.test import Client

from agents.errors import Interrupted
from chat.live import viewer
from chat.models import Conversation, Run, User
from chat.stream.announce import announce
from chat.stream.channel import Channel
from chat.stream.deferred import deferred
from chat.stream.streams import conversation_key, run_key
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
EventsOf = Callable[..., Awaitable[Any]]
Claimed = Callable[[], Awaitable[tuple[Run, Channel]]]
PASSWORDS = {"oldpassword": "ada-secret-1", "password1": "turn of the tide"}


def do(work: Callable[[], Any]) -> Awaitable[Any]:
    """Work on the database in a thread, and leave no connection behind."""

    def unit() -> Any:
        try:
            return work()
        finally:
            connection.close()

    return database_sync_to_async(unit)()


def enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


async def test_signing_out_ends_the_sockets_and_events_of_that_session_alone(
    page_of: PageOf, events_of: EventsOf, ada: User, conversation: Conversation
) -> None:
    client = await do(lambda: enter(ada))
    own = await page_of(client, conversation)
    events = await events_of(client, conversation)
    elsewhere = await page_of(ada, conversation)
    for page in (own, elsewhere):
        await page.hello()
    await events.until(lambda frame: frame["type"] == "caught_up")

    await do(lambda: client.post("/accounts/logout/"))

    assert await own.closed() == 4401
    assert (await events.until(lambda frame: frame["type"] == "closed"))["code"] == 4401
    await elsewhere.hello()
    assert elsewhere.close_code is None


async def test_a_new_password_ends_the_sockets_of_the_old_one(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()

    def change() -> None:
        fields = PASSWORDS | {"password2": PASSWORDS["password1"]}
        answer = enter(ada).post("/accounts/password/change/", fields)
        assert answer.status_code == 302

    await do(change)

    assert await page.closed() == 4401


@pytest.mark.parametrize("ends_as", ["deactivated", "deleted"])
async def test_who_may_not_come_in_any_more_watches_nothing(
    page_of: PageOf, ada: User, bob: User, ends_as: str
) -> None:
    conversation = await Conversation.objects.acreate(owner=bob)
    page = await page_of(bob, conversation)
    await page.hello()

    def end() -> None:
        if ends_as == "deleted":
            bob.delete()
            return
        bob.is_active = False
        bob.save()

    await do(end)

    assert await page.closed() == 4401


async def test_a_deleted_conversation_is_gone_from_its_pages(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()

    await do(lambda: enter(ada).post(f"/conversations/{conversation.pk}/delete/"))

    assert await page.closed() == 4404


async def test_nothing_of_a_deleted_conversation_stays_in_redis(
    ada: User, conversation: Conversation, claimed: Claimed, valkey: "redis.Redis"
) -> None:
    run, channel = await claimed()
    await do(lambda: announce(run))
    channel.put({"type": "thought.delta", "index": 0, "text": "the secret"})
    assert here().publisher.flush(10)
    assert deferred().flush(10)
    assert b"the secret" in b"".join(_texts(valkey))

    await do(conversation.delete)
    assert deferred().flush(10)
    channel.put({"type": "thought.delta", "index": 0, "text": "more of the secret"})
    assert here().publisher.flush(10)

    assert b"secret" not in b"".join(_texts(valkey))
    assert not valkey.exists(conversation_key(conversation.pk))
    assert 0 < valkey.ttl(run_key(run.pk)) <= 600  # an empty mark, which the worker minds
    with pytest.raises(Interrupted):
        channel.control.check()


async def test_one_person_has_so_many_pages_and_another_has_theirs(
    page_of: PageOf,
    ada: User,
    bob: User,
    conversation: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(viewer, "MAX_OF_ONE", 2)
    pages = [await page_of(ada, conversation) for _ in range(2)]
    for page in pages:
        await page.hello()

    refused = await page_of(ada, conversation)
    assert await refused.closed() == 4429

    others = await page_of(bob, await Conversation.objects.acreate(owner=bob))
    await others.hello()
    await pages[0].leave()
    again = await page_of(ada, conversation)
    await again.hello()
    assert again.close_code is None


def _texts(valkey: "redis.Redis") -> list[bytes]:
    streams: Any = [*valkey.scan_iter("run:*"), *valkey.scan_iter("conversation:*")]
    return [repr(valkey.xrange(key)).encode() for key in streams]
