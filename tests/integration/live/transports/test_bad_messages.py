"""Whatever a page sends, it gets an answer in words, and the socket stays."""

import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chat.models import Conversation, User

PageOf = Callable[..., Awaitable[Any]]
MESSAGE_ID = str(uuid.uuid4())


def send(**fields: object) -> dict[str, object]:
    whole: dict[str, object] = {
        "type": "send",
        "client_message_id": MESSAGE_ID,
        "text": "Hello",
        "policy": "explicit",
    }
    return whole | fields


@pytest.mark.parametrize(
    ("message", "code", "answers_to"),
    [
        ("{broken", "not_json", None),
        ("[" * 100_000, "not_json", None),
        ("42", "no_type", None),
        ('{"text": "no type"}', "no_type", None),
        ('{"type": ["send"]}', "no_type", None),
        ({"type": "fly", "client_message_id": "x"}, "unknown_type", "x"),
        ({"type": "approve", "approval": 7, "decision": "perhaps"}, "wrong_shape", None),
        ({"type": "hello", "cursors": [], "after": 0}, "wrong_shape", None),
        ({"type": "hello", "cursors": {"1": "soon"}, "after": 0}, "wrong_shape", None),
        ({"type": "hello", "cursors": {}, "after": 2**64}, "wrong_shape", None),
        ({"type": "stop", "run": "all"}, "wrong_shape", None),
        ({"type": "stop"}, "wrong_shape", None),
        (send(client_message_id="7"), "wrong_shape", "7"),
        (send(text=None), "wrong_shape", MESSAGE_ID),
        (send(parent=-1), "wrong_shape", MESSAGE_ID),
        (send(text=""), "invalid_question", MESSAGE_ID),
        (send(text=" \n\0 "), "invalid_question", MESSAGE_ID),
        (send(text="x" * 200_000), "invalid_question", MESSAGE_ID),
        (send(text="x" * 1_000_000), "too_long", None),
        (send(policy="no-such"), "no_policy", MESSAGE_ID),
        (send(policy="\0"), "no_policy", MESSAGE_ID),
        (send(policy="explicit\0"), "no_policy", MESSAGE_ID),
    ],
    ids=lambda value: (json.dumps(value) if isinstance(value, dict) else str(value))[:60],
)
async def test_a_message_that_cannot_be_granted_is_answered_in_words(
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    message: object,
    code: str,
    answers_to: str | None,
) -> None:
    page = await page_of(ada, conversation)
    await page.say(message)
    error = await page.error()
    await page.hello()

    assert (error["code"], error["client_message_id"]) == (code, answers_to)
    assert error["message"]
    assert "Traceback" not in error["message"]
    assert not await conversation.runs.aexists()


async def test_bytes_are_answered_in_words(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.say_bytes(b"\xff\x00")
    assert (await page.error())["code"] == "not_json"


async def test_a_question_with_a_nul_is_asked_without_it(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    await page.say(send(text="What\0 is \ud83d 2 + 2?"))
    created = await page.until(lambda frame: frame["type"] == "run.created")

    run = await conversation.runs.aget()
    assert run.question == "What is \N{REPLACEMENT CHARACTER} 2 + 2?"
    assert created["client_message_id"] == MESSAGE_ID


async def test_a_message_sent_twice_is_asked_once_and_answered_twice(
    page_of: PageOf, ada: User, conversation: Conversation
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    await page.say(send())
    first = await page.until(lambda frame: frame["type"] == "run.created")
    await page.say(send())
    second = await page.until(lambda frame: frame["type"] == "run.created")

    assert first["run"] == second["run"]
    assert await conversation.runs.acount() == 1
