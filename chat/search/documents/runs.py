"""Write what makes a run findable, in the transaction that asks, begins, ends or renames it."""

from django.db import connection
from django.db.models import Q, prefetch_related_objects

from chat.models import Action, Conversation, Run, RunDocument, RunStatus
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
    """Make the run findable, or bring its document up to date."""
    prefetch_related_objects([run], "conversation", "policy_version__policy")
    with prepared_cursor() as cursor:
        cursor.execute(_DOCUMENTS.statement(), _DOCUMENTS.values(_document_of(run)))


def index_run_ended(run: Run) -> None:
    """Write how the run ended, so that it and its turns are found by it.

    No turn's document says so. One is written anew only for what its turn did not hold: for the
    last turn what the run alone says, an answer given without a turn or why it ended, and that the
    turn was cut off. A turn that was not indexed yet is.
    """
    index_run(run)
    newest = run.turns.order_by("-index").values("pk")[:1]
    turns = run.turns.filter(Q(document=None) | Q(pk__in=newest)).order_by("-index")
    for place, turn in enumerate(turns.select_related("document").defer("document__words")):
        closing = list(closing_parts(run, turn)) if place == 0 else []
        known = getattr(turn, "document", None)
        if closing or known is None or known.has_error != has_error(turn):
            index_turn(turn, closing)


def index_title(conversation: Conversation) -> None:
    """Make a conversation's runs findable by its new title, and by the old one no more."""
    bodies, _ = bodies_of([("title", conversation.title)], OF_RUN)
    with connection.cursor() as cursor:
        cursor.execute(_RETITLED, [bodies, conversation.pk])


def _document_of(run: Run) -> RunDocument:
    # The title may be another than when the run was read; see `chat.conversations.titles`.
    title = Conversation.objects.values_list("title", flat=True).get(pk=run.conversation_id)
    bodies, _ = bodies_of(parts_of_run(run, title), OF_RUN)
    document = RunDocument(
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
    if run.is_live:
        is_begun = run.status != RunStatus.QUEUED
        document.status = RunStatus.RUNNING if is_begun else RunStatus.QUEUED
        return document
    failed = Action.objects.filter(turn__run=run).exclude(error="")
    document.reason = run.reason
    document.turns = run.turns.count()
    document.has_error = run.status == RunStatus.FAILED or failed.exists()
    if (run.input_tokens, run.output_tokens) != (None, None):
        document.tokens = (run.input_tokens or 0) + (run.output_tokens or 0)
    document.seconds = run.seconds
    return document


_DOCUMENTS = Upsert(RunDocument, "run", sql={"words": VECTOR})
