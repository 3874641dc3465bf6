"""Write what makes a turn findable, in the transaction that writes the turn."""

from itertools import chain

from django.db import connection

from chat.models import Turn, TurnDocument
from chat.search.documents.parts import Said, parts_of
from chat.search.documents.vector import OF_TURN, VECTOR, bodies_of
from chat.upsert import Upsert


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
    with connection.cursor() as cursor:
        cursor.execute(_DOCUMENTS.statement(), _DOCUMENTS.values(document_of(turn, closing)))


def has_error(turn: Turn) -> bool:
    """Tell whether what the turn did failed."""
    return any(action.error for action in turn.actions)


_DOCUMENTS = documents()
