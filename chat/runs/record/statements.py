"""What a worker writes while a run goes on: all that belongs together, in one statement.

A hundred runs share one process, and their threads wait for each other after every answer of the
database; a transaction of five statements costs a run seven such waits.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

from chat.models import Action, Artifact, ModelCall, Run, RunStatus, Turn, TurnStatus
from chat.prepared import prepared_cursor
from chat.runs.lease import LeaseLost
from chat.runs.record.artifacts import hold
from chat.search.documents.runs import BEGUN
from chat.search.documents.turns import document_of, documents
from chat.upsert import Upsert, column

_NONE: Mapping[str, str] = {}
_RUN = Run._meta.concrete_fields
_SPACE = {"space_id": "held.space_id"}
_CALLS = Upsert(ModelCall, "run", "index", sql=_SPACE, fixed=_SPACE)
_TURNS = Upsert(Turn, "run", "index", sql=_SPACE, fixed=_SPACE)
_ACTIONS = Upsert(Action, "turn", "position", sql=_SPACE | {"turn": "turn.id"}, fixed=_SPACE)
_ARTIFACTS = Upsert(
    Artifact,
    "run",
    "sha256",
    "name",
    sql=_SPACE | {"turn": "turn.id", "created_at": "now()"},
    fixed=_SPACE,
)
_WORDS = documents(turn="turn.id")
_PIECES = """
INSERT INTO chat_piece (run_id, space_id, digest, text)
SELECT held.id, held.space_id, given.* FROM held, unnest(%s::uuid[], %s::text[]) AS given
ON CONFLICT DO NOTHING
"""
"""What is not there yet is stored; a piece that was redacted stays so."""


def store(
    run: Run,
    call: ModelCall | None = None,
    turn: Turn | None = None,
    actions: Sequence[Action] = (),
    **changes: Any,
) -> None:
    """Write to a run under its attempt, and with it a call, a turn and what makes it findable.

    Of the turn's actions only `actions` are written, those that have changed. A turn is made
    findable when it is complete; the reaper sees to one that stays open. Where actions bring
    artifacts there must be a transaction. Done twice it changes nothing more. Raises LeaseLost when
    another attempt has begun or the run was taken away; then nothing is written.
    """
    hold([artifact for action in actions for artifact in action.brings])
    parts, values = _held(run, changes)
    rows = list(_rows(call, turn, actions))
    for name, source, upsert, row in rows:
        parts[name] = upsert.statement(source)
        values += upsert.values(row)
    pieces = {} if call is None else call.brings
    if pieces:
        values += [list(pieces), list(pieces.values())]
    found = _execute(run, parts, values, {"pieces": _PIECES} if pieces else {})
    for name, _, _, row in rows:
        row.pk = found[name]


def store_apart(action: Action) -> None:
    """Write what was set apart of an action that is over, in a transaction that holds its run."""
    hold(action.brings)
    Artifact.objects.bulk_create(action.brings, ignore_conflicts=True)
    action.save(update_fields=["observation", "whole", "whole_length", "images"])


def store_model(run: Run, **changes: Any) -> None:
    """Write which model works on a run, and that search finds it by that; raises LeaseLost."""
    parts, values = _held(run, changes)
    _execute(run, parts | {"document": BEGUN}, [*values, run.model])


def _rows(
    call: ModelCall | None, turn: Turn | None, actions: Sequence[Action]
) -> Iterator[tuple[str, str, Upsert, Model]]:
    """Yield each row with its part's name, the parts that must be there, and its statement."""
    if call is not None:
        yield "call", "held", _CALLS, call
    if turn is not None:
        yield "turn", "held", _TURNS, turn
    for action in actions:
        yield f"action{action.position}", "held, turn", _ACTIONS, action
        for n, artifact in enumerate(action.brings):
            yield f"artifact{action.position}_{n}", "held, turn", _ARTIFACTS, artifact
    if turn is not None and turn.status != TurnStatus.OPEN:
        yield "words", "turn", _WORDS, document_of(turn)


def _execute(
    run: Run, parts: dict[str, str], values: list[Any], others: Mapping[str, str] = _NONE
) -> dict[str, Any]:
    """Carry out the parts as one statement and return the number of the row that each wrote.

    `others` come after them, and of their rows no number is asked.
    """
    begun = ", ".join(f"{name} AS ({sql})" for name, sql in [*parts.items(), *others.items()])
    numbers = ", ".join(f"(SELECT id FROM {name})" for name in parts)  # noqa: S608 - names above
    with prepared_cursor() as cursor:
        cursor.execute(f"WITH {begun} SELECT {numbers}", values)
        found = dict(zip(parts, cursor.fetchone() or (), strict=True))
    if found["held"] is None:
        raise LeaseLost(f"Run {run.pk} went on without attempt {run.attempt}.")
    return found


def _held(run: Run, changes: dict[str, Any]) -> tuple[dict[str, str], list[Any]]:
    """Return the fence, which locks the run, as the first part of a statement."""
    fields = [(field, changes[field.name]) for field in _RUN if field.name in changes]
    columns = [f"{column(field)} = %s" for field, _ in fields]
    sql = (
        f"UPDATE chat_run SET {', '.join(columns or ['attempt = attempt'])}"  # noqa: S608 - columns
        " WHERE id = %s AND attempt = %s AND status = %s RETURNING id, space_id"
    )
    values = [field.get_db_prep_save(value, connection) for field, value in fields]
    return {"held": sql}, [*values, run.pk, run.attempt, RunStatus.RUNNING]
