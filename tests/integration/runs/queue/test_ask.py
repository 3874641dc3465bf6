"""Asking is safe to repeat, keeps the thread, and needs no broker."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from redis import Redis

from agents.contracts import Exchange
from chat.models import Conversation, PolicyVersion, Run, User
from chat.policies import offered, publish_seeds
from chat.runs.ask import ask
from chat.runs.resume import history
from chat.runs.validation import InvalidQuestion
from chat.stream.deferred import deferred
from tests.integration.here import here

Scripted = Callable[..., PolicyVersion]


@pytest.mark.parametrize("question", ["", " \n\t", "\0\0", "x" * 100_001])
def test_a_question_that_cannot_be_asked_is_refused_in_words(
    conversation: Conversation, scripted: Scripted, question: str
) -> None:
    with pytest.raises(InvalidQuestion, match=r"question"):
        ask(conversation, question, policy_version=scripted([]), client_message_id=uuid.uuid4())
    assert not conversation.runs.exists()


def test_a_message_sent_twice_is_one_run(conversation: Conversation, scripted: Scripted) -> None:
    message_id, version = uuid.uuid4(), scripted([])
    first = ask(conversation, "One?", policy_version=version, client_message_id=message_id)
    second = ask(conversation, "One?", policy_version=version, client_message_id=message_id)
    assert first == second
    assert conversation.runs.count() == 1


def test_a_message_sent_twice_at_once_is_one_run(
    conversation: Conversation, scripted: Scripted, wait_for: Callable[..., None]
) -> None:
    message_id, version = uuid.uuid4(), scripted([])
    made: list[Run] = []

    def send() -> None:
        try:
            made.append(
                ask(conversation, "One?", policy_version=version, client_message_id=message_id)
            )
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(2)]
    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=conversation.pk)
        for thread in threads:
            thread.start()
        wait_for(lambda: waiting_for_locks() == 2, "both to come to where only one may go on")
    for thread in threads:
        thread.join(20)

    assert [run.pk for run in made] == [conversation.runs.get().pk] * 2


def test_of_two_questions_at_once_one_follows_the_other(
    conversation: Conversation, scripted: Scripted, wait_for: Callable[..., None]
) -> None:
    version = scripted([])

    def send(question: str) -> None:
        try:
            message_id = uuid.uuid4()
            ask(conversation, question, policy_version=version, client_message_id=message_id)
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=(question,)) for question in ("One?", "Two?")]
    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=conversation.pk)
        for thread in threads:
            thread.start()
        wait_for(lambda: waiting_for_locks() == 2, "both to come to where only one may go on")
    for thread in threads:
        thread.join(20)

    first, second = conversation.runs.order_by("pk")
    assert (first.parent, second.parent) == (None, first)


def waiting_for_locks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
        (count,) = cursor.fetchone() or (0,)
    return int(count)


def test_four_equal_first_questions_at_once_make_one_conversation_and_one_run(ada: User) -> None:
    publish_seeds()
    sent = {"text": "One?", "policy": "explicit", "client_message_id": str(uuid.uuid4())}
    client = Client()
    client.force_login(ada)
    gate = threading.Barrier(4)
    pages: list[str] = []

    def post() -> None:
        browser = Client()
        browser.cookies = client.cookies
        try:
            gate.wait(20)
            pages.append(browser.post("/conversations/new/", sent).headers["Location"])
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    only = Conversation.objects.get()
    assert pages == [only.get_absolute_url()] * 4
    assert only.runs.count() == Run.objects.count() == 1


def test_the_first_question_names_the_conversation(
    conversation: Conversation, scripted: Scripted
) -> None:
    for question in ("Why\n is the " + "very " * 40 + "sky blue?", "And the sea?"):
        version = scripted([])
        ask(conversation, question, policy_version=version, client_message_id=uuid.uuid4())
    assert conversation.title.startswith("Why is the very very")
    assert len(conversation.title) <= 120


def test_a_question_follows_the_last_one_and_asking_again_follows_what_that_followed(
    asked: Callable[..., Run], conversation: Conversation, scripted: Scripted
) -> None:
    first, second = asked([]), asked([])
    again = ask(
        conversation,
        second.question,
        policy_version=scripted([]),
        client_message_id=uuid.uuid4(),
        again_of=second,
    )
    third = asked([])
    assert (first.parent, second.parent, again.parent, third.parent) == (
        None,
        first,
        first,
        second,
    )


def test_a_run_of_another_conversation_cannot_be_followed(
    asked: Callable[..., Run], scripted: Scripted, conversation: Conversation
) -> None:
    elsewhere = Conversation.objects.create(owner=conversation.owner)
    with pytest.raises(InvalidQuestion, match="another conversation"):
        ask(
            elsewhere,
            "And then?",
            policy_version=scripted([]),
            client_message_id=uuid.uuid4(),
            parent=asked([]),
        )


def test_only_answered_runs_of_the_thread_are_remembered(asked: Callable[..., Run]) -> None:
    for script in ([{"say": "Final Answer: 4"}], [{"fail": "busy"}], [{"say": "Final Answer: 6"}]):
        here().work(asked(script, question=f"Ask {len(script)}").pk)
    assert history(asked([])) == [
        Exchange(question="Ask 1", answer="4"),
        Exchange(question="Ask 1", answer="6"),
    ]


def test_a_question_wakes_a_worker_and_is_announced(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = asked([])
    assert deferred().flush(20)
    assert valkey.llen("celery") == 1
    assert valkey.xlen(f"conversation:{run.conversation_id}") == 1


def test_the_release_publishes_its_policies_once(transactional_db: None) -> None:
    publish_seeds()
    versions = PolicyVersion.objects.count()
    publish_seeds()
    assert PolicyVersion.objects.count() == versions
    assert {"explicit", "implicit"} <= set(offered().values_list("slug", flat=True))


def test_a_version_of_a_teams_own_is_not_superseded_when_the_release_has_another(
    transactional_db: None, settings: Any
) -> None:
    publish_seeds()
    policy = offered().get(slug="explicit")
    mine = policy.publish(policy.latest.spec.model_copy(update={"tools": ("calculator",)}))
    settings.NETWORK_TOOLS = True
    publish_seeds()
    assert policy.latest == mine
