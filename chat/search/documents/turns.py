"""Write what makes a turn findable, in the transaction that writes the turn."""

from datetime import timedelta
from itertools import chain

from django.db import transaction
from django.db.models.functions import Now

from chat.models import Run, Turn, TurnDocument, TurnStatus
from chat.prepared import prepared_cursor
from chat.search.documents.parts import Said, parts_of
from chat.search.documents.vector import OF_TURN, VECTOR, bodies_of
from chat.upsert import Upsert

OPEN_SECONDS = 10
"""After so long an open turn is made findable; most are complete before, and written once."""

MAX_OPEN = 100
"""How many open turns one look makes findable."""


def documents(**sql: str) -> Upsert:
    """Return the statement that writes documents of `document_of`; `sql` as there."""
    return Upsert(TurnDocument, "turn", sql={"words": VECTOR, **sql})


def document_of(turn: Turn, closing: Said = ()) -> TurnDocument:
    """Return what makes a turn findable, in `words` the bodies; a turn is found by its number.

    `closing` is what the run says beside its last turn.
    """
    run = turn.run
    tool, *others = [*dict.fromkeys(turn.tools), ""]
    bodies, is_cut = bodies_of(chain(closing, parts_of(turn)), OF_TURN)
    return TurnDocument(
        turn_id=turn.pk,
        run_document_id=run.pk,
        space_id=run.conversation.space_id,
        kind=run.conversation.kind,
        at=run.when,
        tool=tool,
        other_tools=others[:-1] or None,
        has_error=has_error(turn),
        is_cut=is_cut,
        words=bodies,
    )


def index_turn(turn: Turn, closing: Said = ()) -> None:
    """Make the turn findable, or bring its document up to date."""
    with prepared_cursor() as cursor:
        cursor.execute(_DOCUMENTS.statement(), _DOCUMENTS.values(document_of(turn, closing)))


def index_open_turns() -> None:
    """Make turns findable that have been open for long, by what they say so far.

    Whoever writes a turn holds its run; so does this, or it might write over what has come since.
    """
    since = Now() - timedelta(seconds=OPEN_SECONDS)
    open_turns = Turn.objects.filter(status=TurnStatus.OPEN, document=None, started_at__lte=since)
    runs = open_turns.filter(run__in=Run.objects.live()).values_list("run_id", flat=True)
    for run_id in list(runs[:MAX_OPEN]):
        with transaction.atomic():
            locked = Run.objects.select_for_update(skip_locked=True, no_key=True)
            if locked.filter(pk=run_id).exists():
                for turn in open_turns.filter(run=run_id).select_related("run__conversation"):
                    index_turn(turn)


def has_error(turn: Turn) -> bool:
    """Tell whether what the turn did failed."""
    return any(action.error for action in turn.actions)


_DOCUMENTS = documents()
