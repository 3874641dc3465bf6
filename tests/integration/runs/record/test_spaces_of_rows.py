"""All that is stored of a run names its space, whoever writes it, and the run stays there."""

import json
import time
import uuid
from collections.abc import Callable, Iterator

import pytest
from django.db import IntegrityError, connection, models
from django.utils import timezone

from agents import contracts
from agents.contracts import Observation, ToolCall
from chat.models import Action, Approval, Conversation, ModelCall, Piece, Run, Space, Turn, User
from chat.runs.record.requests import CallLog
from chat.runs.record.rows import set_calls, set_observation
from chat.runs.record.statements import store
from chat.runs.worker.claim import claim
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
ROWS: dict[type[models.Model], str] = {
    Turn: "run",
    Action: "turn__run",
    ModelCall: "run",
    Piece: "run",
    Approval: "run",
}
"""The tables, and the way from each to its run."""


def named_in(run: Run, *tables: type[models.Model]) -> set[tuple[str, int]]:
    """Return the tables that have rows of the run, each with a space that these name."""
    found = set()
    for model in tables or ROWS:
        rows = model._default_manager.filter(**{ROWS[model]: run})
        found |= {(model.__name__, space) for space in rows.values_list("space_id", flat=True)}
    return found


@pytest.fixture
def nobody_looks_it_up(transactional_db: None) -> Iterator[None]:
    """Take the triggers away by which Postgres finds the space of a row that names none."""
    tables = [model._meta.db_table for model in ROWS]
    _all(tables, "DISABLE")
    yield
    _all(tables, "ENABLE")


def _all(tables: list[str], act: str) -> None:
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} {act} TRIGGER {table}_space")


def call() -> contracts.ModelCall:
    return contracts.ModelCall(
        purpose="think",
        provider="scripted",
        model="m",
        request=json.dumps({"messages": [{"role": "user", "content": "What is 2 + 2?"}]}),
        reply="",
        started_at=time.time(),
        seconds=0,
    )


def write(run: Run) -> None:
    """Store a call with its pieces and a turn of two actions, then what the first came to."""
    turn = Turn(run=run, index=0, attempt=run.attempt, kind="action", started_at=timezone.now())
    turn.actions = []
    set_calls(turn, [ToolCall(tool="calculator", inputs={"expression": str(n)}) for n in range(2)])
    store(run, CallLog(run, 0).row(call(), 0), turn, turn.actions)
    store(run, turn=turn, actions=[set_observation(turn, Observation(text="0"))])


@pytest.mark.usefixtures("nobody_looks_it_up")
def test_a_worker_names_the_space_of_what_it_stores(
    ask_in: Callable[..., Run], ada: User, team: Space
) -> None:
    for space in (ada.own_space, team):
        asked = ask_in(Conversation.objects.create(owner=ada, space=space))
        run = claim(asked.pk, "a worker")
        assert run is not None

        write(run)

        written = {(name, space.pk) for name in ("Turn", "Action", "ModelCall", "Piece")}
        assert named_in(run) == written


@pytest.mark.usefixtures("nobody_looks_it_up")
def test_a_question_to_a_person_is_stored_in_the_space_of_its_run(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": CALCULATION}], tools=("calculator",), approve=("calculator",))

    here().work(run.pk)

    assert named_in(run, Approval) == {("Approval", run.conversation.space_id)}


def test_who_names_no_space_gets_that_of_the_run(asked: Callable[..., Run], ada: User) -> None:
    run = asked([])
    turn = Turn.objects.create(run=run, index=0, attempt=1, kind="action")
    Action.objects.bulk_create([Action(turn=turn, position=0, tool="look", inputs={})])
    ModelCall.objects.create(run=run, index=0, turn_index=0, attempt=1)
    Piece.objects.create(run=run, digest=uuid.uuid4(), text="What is 2 + 2?")
    Approval.objects.create(run=run, turn_index=0, inputs={}, expires_at=timezone.now())

    assert named_in(run) == {(model.__name__, ada.pk) for model in ROWS}
    turn.status = "interrupted"
    turn.save()
    assert named_in(run, Turn) == {("Turn", ada.pk)}


def test_a_run_stays_in_its_space(asked: Callable[..., Run], ada: User, team: Space) -> None:
    run = asked([])
    teams, own = (Conversation.objects.create(owner=ada, space=s) for s in (team, ada.own_space))

    with pytest.raises(IntegrityError, match="stays in its space"):
        Run.objects.filter(pk=run.pk).update(conversation=teams)

    Run.objects.filter(pk=run.pk).update(conversation=own)
    assert Run.objects.values_list("conversation", "space_id").get() == (own.pk, ada.pk)
