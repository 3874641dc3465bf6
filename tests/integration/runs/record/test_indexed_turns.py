"""A turn is found from when it is complete, and before where it stays open."""

from collections.abc import Callable
from datetime import timedelta

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.contracts import ToolCall
from chat.models import Action, Run, RunDocument, Turn, TurnDocument, TurnStatus, User
from chat.runs.record.rows import set_calls
from chat.runs.record.statements import store, store_model
from chat.runs.worker.reaper import Reaper
from chat.search.documents.turns import OPEN_SECONDS, index_open_turns
from chat.search.find import find
from chat.search.language.query import parse
from project.ops.backup import address_of
from tests.integration.here import here


def finds(user: User, text: str) -> bool:
    return bool(find(user, parse(text)).turn_ids)


def began(run: Run, seconds: float = 0) -> Turn:
    """Store a turn whose thought is known, begun so long ago."""
    began_at = timezone.now() - timedelta(seconds=seconds)
    turn = Turn(run=run, index=0, attempt=1, kind="action", started_at=began_at)
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


def test_a_turn_that_stays_open_is_found_by_what_it_says_so_far(claimed: Callable[[], Run]) -> None:
    run = claimed()
    owner = run.conversation.owner

    turn = began(run, OPEN_SECONDS + 1)
    assert not finds(owner, "walrus")
    Reaper(begin=lambda: None).look()
    assert finds(owner, "walrus in:thought")
    assert finds(owner, f"walrus run:{run.pk} status:running")
    assert not finds(owner, "floes")

    complete(turn)
    assert finds(owner, "walrus in:thought floes in:observation has:error tool:wikipedia")


def test_a_turn_is_written_for_search_once_where_it_is_over_soon(
    claimed: Callable[[], Run],
) -> None:
    turn = began(claimed())
    store(turn.run, turn=turn, actions=[proposed(turn)])
    index_open_turns()
    assert not TurnDocument.objects.exists()

    complete(turn)
    assert TurnDocument.objects.count() == 1


def test_what_has_come_of_an_open_turn_is_never_written_over_by_what_it_said_before(
    claimed: Callable[[], Run],
) -> None:
    turn = began(claimed(), OPEN_SECONDS + 1)
    owner = turn.run.conversation.owner
    index_open_turns()
    complete(turn)
    index_open_turns()

    assert finds(owner, "floes in:observation")


def test_an_open_turn_whose_run_is_held_is_left_to_the_next_look(
    claimed: Callable[[], Run],
) -> None:
    turn = began(claimed(), OPEN_SECONDS + 1)
    with psycopg.connect(address_of(connection.get_connection_params())) as other:
        other.execute("SELECT FROM chat_run WHERE id = %s FOR NO KEY UPDATE", [turn.run_id])
        index_open_turns()
        assert not TurnDocument.objects.exists()

    index_open_turns()
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


def test_the_end_of_a_run_reads_its_turns_once(asked: Callable[..., Run]) -> None:
    reply = 'Thought: hm\nAction: calculator\nAction Input: {"expression": "%d + 1"}'
    replies = [{"say": reply % number} for number in range(3)]
    run = asked([*replies, {"say": "Final Answer: So."}], tools=("calculator",))

    with CaptureQueriesContext(connection) as statements:
        here().work(run.pk)

    asked_for = [query["sql"].partition(" FROM ")[2] for query in statements]
    assert sum(table.startswith('"chat_turn"') for table in asked_for) == 1
    assert sum(table.startswith('"chat_action"') for table in asked_for) == 1
    assert RunDocument.objects.get(run=run).turns == run.turns.count() == 4
