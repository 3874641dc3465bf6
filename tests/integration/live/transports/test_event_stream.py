"""Where WebSockets do not pass, the same frames come as events of a response, one after another."""

import asyncio
import json
import random
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.test import Client

from chat.live import event_stream
from chat.live.event_stream import MAX_CHARACTERS
from chat.models import Conversation, Run, User
from chat.stream.channel import Channel
from chat.stream.server_events import ThoughtDelta
from tests.integration.here import here

EventsOf = Callable[..., Awaitable[Any]]
Claimed = Callable[[], Awaitable[tuple[Run, Channel]]]


@pytest.fixture
def posted(transactional_db: None) -> Callable[..., Any]:
    """Post a wish as the page does: `answer = posted(ada, conversation, {"type": "stop", …})`."""

    def post(user: User | None, conversation: Conversation, wish: object, **fields: Any) -> Any:
        client = Client(enforce_csrf_checks=True)
        if user is not None:
            client.force_login(user)
        client.cookies["csrftoken"] = token = "t" * 32
        headers = {"X-CSRFToken": token} if fields.pop("token", True) else {}
        body = wish if isinstance(wish, str | bytes) else json.dumps(wish)
        kind = fields.pop("kind", "application/json")
        path = f"/conversations/{conversation.pk}/frames/"
        try:
            return client.post(path, body, content_type=kind, headers=headers)
        finally:
            connection.close()

    return post


def send(**fields: object) -> dict[str, object]:
    whole = {"type": "send", "client_message_id": str(uuid.uuid4()), "text": "Hi", "policy": "none"}
    return whole | fields


def delta(text: str) -> ThoughtDelta:
    return ThoughtDelta(type="thought.delta", index=0, text=text)


async def test_a_run_is_followed_to_its_end(
    events_of: EventsOf,
    ada: User,
    conversation: Conversation,
    asked: Callable[..., Run],
    working: Any,
) -> None:
    page = await events_of(ada, conversation)
    await page.until(lambda frame: frame["type"] == "caught_up")
    run = await database_sync_to_async(asked)([{"say": "Thought: I know.\nFinal Answer: Four."}])
    async with working(run):
        end = await page.end_of(run.pk)

    assert page.headers["content-type"] == "text/event-stream"
    assert page.headers["x-accel-buffering"] == "no"
    assert page.text(run.pk, "answer.delta") == "Four."
    assert "Four." in end["events"][-1]["html"]
    # A later run may be announced before one that nobody told of, so the place is the record's.
    assert page.place == "after=0&cursors="


async def test_a_response_goes_on_where_the_one_before_it_ended(
    events_of: EventsOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    words = [f"{number} " for number in range(200)]
    chance = random.Random(7)  # noqa: S311
    place, text = f"after={run.pk}&cursors={run.pk}:1-0", ""
    for start in range(0, 200, 10):
        page = await events_of(ada, conversation, place)
        for word in words[start : start + 10]:
            channel.put(delta(word))
            channel.seal()
        assert await asyncio.to_thread(here().publisher.flush, 10)
        for _ in range(chance.randrange(3)):  # the backlog, and that it was all
            await page.next()
        text, place = text + page.text(run.pk), page.place or place
        await page.leave()
    page = await events_of(ada, conversation, place)
    await page.until(lambda frame: frame["type"] == "caught_up")

    assert text + page.text(run.pk) == "".join(words)


async def test_a_browsers_own_reader_goes_on_by_the_id_of_the_last_event(
    events_of: EventsOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    first = await events_of(ada, conversation)
    for word in ("one ", "two "):
        channel.put(delta(word))
        await first.until(lambda frame, word=word: word in first.text(run.pk))
        place = first.place
    channel.put(delta("three"))
    assert await asyncio.to_thread(here().publisher.flush, 10)
    second = await events_of(ada, conversation, last=place)
    await second.until(lambda frame: frame["type"] == "caught_up")

    assert second.text(run.pk) == "three"
    assert "run.created" not in {frame["type"] for frame in second.frames}


async def test_a_response_ends_when_it_has_been_long_enough_and_the_next_loses_nothing(
    events_of: EventsOf, ada: User, conversation: Conversation, claimed: Claimed
) -> None:
    run, channel = await claimed()
    page = await events_of(ada, conversation, f"after={run.pk}&cursors={run.pk}:1-0")
    piece = "x" * 1_000_000
    for _ in range(MAX_CHARACTERS // len(piece) + 2):
        channel.put(delta(piece))
        assert await asyncio.to_thread(here().publisher.flush, 10)
    code = await page.closed()
    rest = await events_of(ada, conversation, page.place)
    await rest.until(lambda frame: frame["type"] == "caught_up")

    assert code == 1000
    shown = len(page.text(run.pk))
    assert MAX_CHARACTERS <= shown < MAX_CHARACTERS + 2 * len(piece)
    assert shown + len(rest.text(run.pk)) == len(piece) * (MAX_CHARACTERS // len(piece) + 2)


async def test_a_response_ends_after_a_while_also_where_nothing_comes(
    events_of: EventsOf, ada: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "MAX_SECONDS", 0.5)
    page = await events_of(ada, conversation)

    assert await page.closed() == 1000
    assert await page.next() is None


async def test_nobody_signed_in_is_turned_away(
    events_of: EventsOf, conversation: Conversation
) -> None:
    page = await events_of(None, conversation)
    assert page.status == 401


@pytest.mark.parametrize("number", ["another's", "none at all"])
async def test_a_stranger_cannot_tell_anothers_conversation_from_none(
    events_of: EventsOf, bob: User, conversation: Conversation, number: str
) -> None:
    page = await events_of(bob, conversation if number == "another's" else 2**70)
    assert page.status == 404


async def test_a_run_of_another_conversation_is_not_followed(
    events_of: EventsOf, bob: User, asked: Callable[..., Run]
) -> None:
    secret = await database_sync_to_async(asked)([{"say": "Final Answer: the secret"}])
    own = await Conversation.objects.acreate(owner=bob)
    page = await events_of(bob, own, f"after=0&cursors={secret.pk}:0-0")
    await page.until(lambda frame: frame["type"] == "caught_up")

    assert [frame["type"] for frame in page.frames] == ["error", "caught_up"]


@pytest.mark.parametrize("query", ["after=soon", "after=-1", "cursors=x:1-1", "cursors=1"])
async def test_a_query_that_is_no_place_is_refused(
    events_of: EventsOf, ada: User, conversation: Conversation, query: str
) -> None:
    page = await events_of(ada, conversation, query)
    if page.status == 200:
        error = await page.error()
        assert error["code"] == "wrong_shape"
    else:
        assert page.status == 400


def test_a_question_is_asked_and_answered_with_its_run(
    posted: Callable[..., Any], ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    slug = asked([{"say": "Final Answer: 4"}]).policy_version.policy.slug
    question = send(policy=slug)
    first = posted(ada, conversation, question).json()
    second = posted(ada, conversation, question).json()

    run = conversation.runs.get(client_message_id=str(question["client_message_id"]))
    assert [frame["type"] for frame in first] == ["run.created"]
    assert first[0]["run"] == second[0]["run"] == run.pk


def test_a_run_is_stopped(
    posted: Callable[..., Any], ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    answer = posted(ada, conversation, {"type": "stop", "run": run.pk})

    run.refresh_from_db()
    assert (answer.status_code, answer.json(), run.status) == (200, [], "stopped")


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ("{broken", "not_json"),
        (b"\xff\xfe", "not_json"),
        ({"type": "fly"}, "unknown_type"),
        (send(policy="no-such"), "no_policy"),
        (send(text="x" * 1_000_000), "too_long"),
        (send(text="x" * 3_000_000), "too_long"),
        ({"type": "stop", "run": 2**62}, "not_found"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wish_that_cannot_be_granted_is_answered_in_words(
    posted: Callable[..., Any], ada: User, conversation: Conversation, wish: object, code: str
) -> None:
    answer = posted(ada, conversation, wish)

    assert [frame["code"] for frame in answer.json()] == [code]
    assert answer.json()[0]["message"]


def test_a_wish_of_another_site_is_refused(
    posted: Callable[..., Any], ada: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    wish = {"type": "stop", "run": run.pk}
    without_token = posted(ada, conversation, wish, token=False)
    as_a_form = posted(ada, conversation, json.dumps(wish), kind="text/plain")

    run.refresh_from_db()
    assert (without_token.status_code, as_a_form.status_code, run.status) == (403, 415, "queued")


def test_a_strangers_wish_is_answered_as_if_nothing_were_there(
    posted: Callable[..., Any], bob: User, conversation: Conversation, asked: Callable[..., Run]
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    strangers = posted(bob, conversation, {"type": "stop", "run": run.pk})
    nobodys = posted(None, conversation, {"type": "stop", "run": run.pk})

    run.refresh_from_db()
    assert (strangers.status_code, nobodys.status_code, run.status) == (404, 401, "queued")
