"""Ask a question: the one way in which a run begins."""

from functools import partial
from uuid import UUID

from django.db import transaction

from agents.tools.output import storable
from chat.live.announce import announce
from chat.models import Conversation, PolicyVersion, Run
from chat.models.conversation import TITLE_LENGTH
from chat.runs.wake import wake

MOST_CHARACTERS = 100_000


class InvalidQuestion(ValueError):
    """Raised for a question that cannot be asked; the text is for the person who asks."""


def ask(
    conversation: Conversation,
    question: str,
    *,
    policy_version: PolicyVersion,
    client_message_id: UUID,
    parent: Run | None = None,
    again_of: Run | None = None,
) -> Run:
    """Store a run for `question`, wake a worker and tell who watches, once it is committed.

    Sent twice under one `client_message_id` it is one run. Without a `parent` the run follows the
    last one of the thread, or what `again_of` followed. Raises InvalidQuestion.
    """
    question = _checked(question)
    for other in (parent, again_of):
        if other is not None and other.conversation_id != conversation.pk:
            raise InvalidQuestion("The question refers to a run of another conversation.")
    with transaction.atomic():
        # Of two questions at once, each must see whether the other came first.
        Conversation.objects.select_for_update().get(pk=conversation.pk)
        run, is_new = Run.objects.get_or_create(
            conversation=conversation,
            client_message_id=client_message_id,
            defaults={
                "question": question,
                "policy_version": policy_version,
                "parent": parent or _before(conversation, again_of),
                "again_of": again_of,
            },
        )
        if is_new:
            _touch(conversation, question)
            transaction.on_commit(partial(announce, run))
            transaction.on_commit(partial(wake, run.pk))
    return run


def _checked(question: str) -> str:
    question = storable(question.replace("\0", "")).strip()
    if not question:
        raise InvalidQuestion("Write a question first.")
    if len(question) > MOST_CHARACTERS:
        raise InvalidQuestion(
            f"This question has {len(question):,} characters; {MOST_CHARACTERS:,} is the most."
        )
    return question


def _before(conversation: Conversation, again_of: Run | None) -> Run | None:
    if again_of is not None:
        return again_of.parent
    return conversation.runs.filter(again_of=None).order_by("pk").last()


def _touch(conversation: Conversation, question: str) -> None:
    if not conversation.title:
        conversation.title = _shortened(" ".join(question.split()))
    conversation.save(update_fields=["title", "updated_at"])


def _shortened(text: str) -> str:
    return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1].rstrip() + "…"
