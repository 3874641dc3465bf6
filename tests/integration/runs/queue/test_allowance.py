"""Nobody may ask without end, and who may not is told when they may again."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, ConversationKind, PolicyVersion, Run, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop
from chat.runs.validation import TooManyQuestions

Scripted = Callable[..., PolicyVersion]


@pytest.fixture
def put(scripted: Scripted) -> Callable[..., Run]:
    version = scripted([])

    def put(conversation: Conversation, message_id: uuid.UUID | None = None) -> Run:
        return ask(
            conversation,
            "Why?",
            policy_version=version,
            client_message_id=message_id or uuid.uuid4(),
        )

    return put


def test_who_asks_too_often_is_told_when_to_ask_again(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = 2
    put(conversation)
    put(conversation)
    with pytest.raises(TooManyQuestions, match=r"2 questions a minute.* again in \d+ second"):
        put(conversation)
    assert conversation.runs.count() == 2


def test_a_minute_later_the_next_question_is_taken(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    first = put(conversation)
    Run.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(seconds=61))
    assert put(conversation) != first


def test_a_message_sent_again_is_no_further_question(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    message_id = uuid.uuid4()
    first = put(conversation, message_id)
    assert put(conversation, message_id) == first


def test_no_more_questions_wait_than_may(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.WAITING_PER_USER = 1
    first = put(conversation)
    with pytest.raises(TooManyQuestions, match="1 of your questions"):
        put(conversation)
    request_stop(first)
    assert put(conversation).is_live


def test_what_is_no_chat_counts_for_nobody_and_is_not_counted(
    settings: Any, ada: User, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.WAITING_PER_USER = 1
    trial = Conversation.objects.create(owner=ada, kind=ConversationKind.TRIAL)
    put(trial)

    assert put(conversation).lane == "chat"
    assert put(trial).lane == "batch"
    with pytest.raises(TooManyQuestions):
        put(conversation)


def test_one_persons_questions_are_not_anothers(
    settings: Any,
    conversation: Conversation,
    put: Callable[..., Run],
    bob: User,
) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.WAITING_PER_USER = 1
    put(conversation)
    assert put(Conversation.objects.create(owner=bob)).is_live


def test_without_limits_nobody_is_refused(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.WAITING_PER_USER = 0
    assert put(conversation) != put(conversation)


def test_of_two_questions_at_once_only_as_many_are_taken_as_may_be(
    settings: Any, conversation: Conversation, put: Callable[..., Run]
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    others = [Conversation.objects.create(owner=conversation.owner) for _ in range(4)]
    refused: list[str] = []

    def put_one(place: Conversation) -> None:
        try:
            put(place)
        except TooManyQuestions as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=put_one, args=[place]) for place in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Run.objects.count() == 1
    assert len(refused) == 3


def test_the_page_says_it_with_the_question_kept(
    settings: Any, conversation: Conversation, put: Callable[..., Run], client: Client
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    run = put(conversation)
    client.force_login(conversation.owner)
    page = client.post(
        reverse("conversation", args=[conversation.pk]),
        {"text": "And then?", "policy": run.policy_version.policy.slug},
    )
    assert page.status_code == 429
    assert "Try again in" in page.content.decode()
    assert "And then?" in page.content.decode()


def test_a_first_question_too_many_leaves_no_empty_conversation(
    settings: Any, conversation: Conversation, put: Callable[..., Run], client: Client
) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    run = put(conversation)
    client.force_login(conversation.owner)
    page = client.post(
        reverse("conversation_new"), {"text": "New?", "policy": run.policy_version.policy.slug}
    )
    assert page.status_code == 429
    assert Conversation.objects.count() == 1
