"""Ask a question: the one way in which a run begins."""

from functools import partial
from uuid import UUID

from django.db import transaction

from chat.metrics.instruments import RUNS_ASKED
from chat.models import Conversation, Origin, PolicyVersion, Run
from chat.models.conversation import TITLE_LENGTH
from chat.runs.allowance import check_allowance
from chat.runs.models_offered import ModelOffered
from chat.runs.queue import tell_ahead
from chat.runs.validation import InvalidQuestion, checked
from chat.runs.wake import wake
from chat.search.documents.runs import index_run
from chat.stream.announce import announce, clear


def ask(
    conversation: Conversation,
    question: str,
    *,
    policy_version: PolicyVersion,
    client_message_id: UUID,
    parent: Run | None = None,
    again_of: Run | None = None,
    model: ModelOffered | None = None,
) -> Run:
    """Store a run for `question`, wake a worker and tell who watches, once it is committed.

    Sent twice under one `client_message_id` it is one run. Without a `parent` the run follows the
    last one of the thread, or what `again_of` followed. Without a `model` it is left to the policy,
    or is that of `again_of`. Raises InvalidQuestion, also for a foreign
    policy, and its kind TooManyQuestions when the owner has asked as much as they may.
    """
    question = checked(question)
    if policy_version.policy.origin != Origin.OURS:
        raise InvalidQuestion(f"{policy_version} is not run here; choose another policy.")
    for other in (parent, again_of):
        if other is not None and other.conversation_id != conversation.pk:
            raise InvalidQuestion("The question refers to a run of another conversation.")
    with transaction.atomic():
        # Of two questions at once, each must see whether the other came first.
        held = (
            Conversation.objects.select_for_update(of=("self",))
            .select_related("owner")
            .get(pk=conversation.pk)
        )
        sent = conversation.runs.filter(client_message_id=client_message_id).first()
        if sent is not None:
            return sent
        check_allowance(conversation)
        run = Run.objects.create(
            conversation=conversation,
            client_message_id=client_message_id,
            question=question,
            policy_version=policy_version,
            parent=parent or _before(conversation, again_of),
            again_of=again_of,
            person_instructions=held.owner.instructions,
            conversation_instructions=held.instructions,
            **_chosen(model, again_of),
        )
        _touch(conversation, question)
        index_run(run)
        clear(run)
        transaction.on_commit(RUNS_ASKED.inc)
        transaction.on_commit(partial(_announce, run), robust=True)
        transaction.on_commit(partial(wake, run.pk), robust=True)
    return run


def _chosen(model: ModelOffered | None, again_of: Run | None) -> dict[str, str]:
    if model is not None:
        return {"chosen_provider": model.provider, "chosen_model": model.model}
    if again_of is not None:
        names = ("chosen_provider", "chosen_model")
        return {name: getattr(again_of, name) for name in names}
    return {}


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


def _announce(run: Run) -> None:
    tell_ahead([run])
    announce(run)
