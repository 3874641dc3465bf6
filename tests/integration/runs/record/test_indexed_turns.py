"""A turn is found from when its row is first stored, and written anew for search at its end."""

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.contracts import ToolCall
from chat.models import Action, Run, RunDocument, Turn, TurnDocument, TurnStatus, User
from chat.runs.record.rows import set_calls
from chat.runs.record.statements import store, store_model
from chat.search.find import find
from chat.search.language.query import parse


def finds(user: User, text: str) -> bool:
    return bool(find(user, parse(text)).turn_ids)


def began(run: Run) -> Turn:
    """Store a turn whose thought is known."""
    turn = Turn(run=run, index=0, attempt=1, kind="action", started_at=timezone.now())
    turn.thought, turn.actions = "Where do walruses sleep?", []
    store(run, turn=turn)
    return turn


def proposed(turn: Turn) -> Action:
    """Give the turn its action."""
    set_calls(turn, [ToolCall(tool="wikipedia", inputs={"title": "Walrus"})])
    return turn.actions[0]


def complete(turn: Turn) -> None:
    """Store what came of the turn's action."""
    action = proposed(turn)
    action.observation, action.error = "On ice floes.", "ToolFailed"
    turn.status, turn.ended_at = TurnStatus.COMPLETE, timezone.now()
    store(turn.run, turn=turn, actions=[action])


def test_an_open_turn_is_found_by_what_it_says_so_far(claimed: Callable[[], Run]) -> None:
    run = claimed()
    owner = run.conversation.owner

    turn = began(run)
    assert finds(owner, "walrus in:thought")
    assert finds(owner, f"walrus run:{run.pk} status:running")
    assert not finds(owner, "floes")

    complete(turn)
    assert finds(owner, "walrus in:thought floes in:observation has:error tool:wikipedia")


def test_a_turn_is_written_for_search_when_it_is_stored_first_and_when_it_is_complete(
    claimed: Callable[[], Run],
) -> None:
    turn = began(claimed())

    def version() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT ctid::text FROM chat_turndocument WHERE turn_id = %s", [turn.pk])
            return str(cursor.fetchone()[0])

    first = version()
    store(turn.run, turn=turn, actions=[proposed(turn)])
    assert version() == first
    complete(turn)
    assert version() != first
    assert TurnDocument.objects.count() == 1


def test_a_step_of_a_turn_is_one_statement_with_what_search_reads(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    with CaptureQueriesContext(connection) as statements:
        complete(began(run))

    assert len(statements) == 2


def test_the_model_that_begins_on_a_run_is_told_to_search_in_the_same_statement(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    assert RunDocument.objects.get(run=run).status == "queued"
    run.model = "demo"

    with CaptureQueriesContext(connection) as statements:
        store_model(run, model=run.model)

    assert len(statements) == 1
    row = RunDocument.objects.get(run=run)
    assert (row.status, row.model) == ("running", "demo")
