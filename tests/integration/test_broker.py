"""A connection to the broker that died does no harm to who still holds its messages."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection
from kombu.message import Message

import project.celery  # noqa: F401 - it has the channels forgive


@pytest.fixture
def connection() -> Iterator[Connection]:
    with Connection(settings.CELERY_BROKER_URL) as connection:
        yield connection


@pytest.fixture
def queue(connection: Connection) -> Any:
    return connection.SimpleQueue(f"test-{uuid.uuid4().hex}")


@pytest.fixture
def message(queue: Any) -> Message:
    """Give a message that was received and is not acknowledged."""
    queue.put("wake up")
    message: Message = queue.get(timeout=5)
    return message


@pytest.fixture
def lose(connection: Connection, queue: Any) -> Callable[[], None]:
    """Lose the connection as a worker does: its transport is gone before its channels are."""

    def lose_it() -> None:
        connection.transport.client = None
        queue.channel.close()

    return lose_it


def test_a_channel_is_closed_though_its_messages_cannot_be_given_back(
    queue: Any, message: Message, lose: Callable[[], None]
) -> None:
    lose()
    assert queue.channel.closed


@pytest.mark.parametrize("say", [Message.ack, Message.reject, Message.requeue])
def test_what_was_received_before_the_loss_is_settled_without_harm(
    say: Callable[[Message], None], message: Message, lose: Callable[[], None]
) -> None:
    with suppress(AttributeError):
        lose()

    say(message)

    assert message.acknowledged


def test_a_message_that_is_not_acknowledged_is_given_back_at_the_end(
    connection: Connection, queue: Any, message: Message
) -> None:
    name = queue.queue.name
    connection.close()
    with Connection(settings.CELERY_BROKER_URL) as another:
        again = another.SimpleQueue(name).get(timeout=5)
        again.ack()
    assert again.payload == "wake up"
