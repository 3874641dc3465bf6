"""Write what makes a run findable, in the transaction that asks, begins, ends or renames it."""

from collections.abc import Sequence

from django.db import connection
from django.db.models import F, prefetch_related_objects

from chat.models import Conversation, Run, RunDocument, RunStatus, Turn
from chat.prepared import prepared_cursor
from chat.search.documents.parts import closing_parts, parts_of_run
from chat.search.documents.turns import has_error, index_turn
from chat.search.documents.vector import OF_RUN, VECTOR, bodies_of
from chat.upsert import Upsert

BEGUN = """
UPDATE chat_rundocument SET model = %s, status = 'running'
FROM held WHERE run_id = held.id RETURNING run_id AS id
"""
"""The SQL by which a model begins on the run `held`, whose name is the parameter."""

_RETITLED = f"""
UPDATE chat_rundocument SET words = ts_filter(words, '{{a,b,c}}') || {VECTOR}
WHERE run_id IN (SELECT id FROM chat_run WHERE conversation_id = %s)
"""  # noqa: S608 - constants


def index_run(run: Run) -> None:
    """Make a run that has not ended findable, or bring its document up to date."""
    document = _document_of(run)
    is_begun = run.status != RunStatus.QUEUED
    document.status = RunStatus.RUNNING if is_begun else RunStatus.QUEUED
    _store(document)


def index_run_ended(run: Run) -> Sequence[Turn]:
    """Write how the run ended, so that it and its turns are found by it; return its turns.

    No turn's document says so. One is written anew only for what its turn did not hold: for the
    last turn what the run alone says, an answer given without a turn or why it ended, and that the
    turn was cut off. A turn that was not indexed yet is.
    """
    turns = list(run.turns.order_by("index").annotate(known_error=F("document__has_error")))
    _store(_document_of_ended(run, turns))
    for turn in turns:
        closing = list(closing_parts(run, turn)) if turn is turns[-1] else []
        # None where there is no document yet.
        if closing or turn.known_error != has_error(turn):
            index_turn(turn, closing)
    return turns


def index_title(conversation: Conversation) -> None:
    """Make a conversation's runs findable by its new title, and by the old one no more."""
    bodies, _ = bodies_of([("title", conversation.title)], OF_RUN)
    with connection.cursor() as cursor:
        cursor.execute(_RETITLED, [bodies, conversation.pk])


def _document_of(run: Run) -> RunDocument:
    prefetch_related_objects([run], "conversation", "policy_version__policy")
    # The title may be another than when the run was read; see `chat.conversations.titles`.
    title = Conversation.objects.values_list("title", flat=True).get(pk=run.conversation_id)
    bodies, _ = bodies_of(parts_of_run(run, title), OF_RUN)
    return RunDocument(
        run_id=run.pk,
        space_id=run.conversation.space_id,
        kind=run.conversation.kind,
        policy=run.policy_version.policy.slug,
        version=run.policy_version.number,
        model=run.model,
        status=run.status,
        at=run.when,
        words=bodies,
    )


def _document_of_ended(run: Run, turns: Sequence[Turn]) -> RunDocument:
    document = _document_of(run)
    document.reason = run.reason
    document.turns = len(turns)
    document.has_error = run.status == RunStatus.FAILED or any(map(has_error, turns))
    if (run.input_tokens, run.output_tokens) != (None, None):
        document.tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    document.seconds = run.seconds
    return document


def _store(document: RunDocument) -> None:
    with prepared_cursor() as cursor:
        cursor.execute(_DOCUMENTS.statement(), _DOCUMENTS.values(document))


_DOCUMENTS = Upsert(RunDocument, "run", sql={"words": VECTOR})
