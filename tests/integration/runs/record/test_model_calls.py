"""What the model was sent is kept exactly, without growing with the square of the turns."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from agents import contracts
from agents.prompting.prompts import enclosed
from chat.models import ModelCall, Piece, Run, Turn, TurnStatus
from chat.request import RequestCorrupted
from chat.runs.lease import LeaseLost
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from chat.runs.resume import Before

TURN = 400


def request(turns: int, goal: str = "") -> str:
    return body(goal + "".join(f"Thought {n}: {'é' * TURN}\n" for n in range(turns)))


def body(*contents: str) -> str:
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "m", "messages": messages})


def call(text: str, purpose: str = "think") -> contracts.ModelCall:
    return contracts.ModelCall(
        purpose=purpose,
        provider="scripted",
        model="m",
        request=text,
        reply="",
        started_at=time.time(),
        seconds=0,
    )


def store_all(run: Run, requests: list[str]) -> int:
    """Store the calls and return how many characters that took."""
    log = CallLog(run, 0)
    for text in requests:
        store(run, log.row(call(text), 0))
    texts = sum(len(text) for text in run.pieces.values_list("text", flat=True))
    lists = sum(
        len(json.dumps(listed)) for listed in run.model_calls.values_list("pieces", flat=True)
    )
    return texts + lists


def test_requests_are_rebuilt_to_the_letter(claimed: Callable[[], Run]) -> None:
    run = claimed()
    requests = [request(turns) for turns in range(12)]
    store_all(run, requests)
    assert [c.request for c in ModelCall.objects.with_requests(run)] == requests


def test_a_call_is_stored_with_all_that_is_known_of_it(claimed: Callable[[], Run]) -> None:
    run = claimed()
    told = contracts.ModelCall(
        purpose="think",
        provider="scripted",
        model="m",
        request="Why?",
        reply="Thus.",
        reasoning="Hm.",
        stop_reason="length",
        error="ProviderError",
        usage=contracts.Usage(input_tokens=7, output_tokens=2, cached_tokens=5, reasoning_tokens=1),
        started_at=1_800_000_000.5,
        first_token_seconds=0.25,
        seconds=1.5,
    )
    store(run, CallLog(run, 4).row(told, 3))

    (row,) = ModelCall.objects.with_requests(run)
    assert (row.index, row.turn_index, row.attempt, row.request) == (4, 3, 1, "Why?")
    assert (row.purpose, row.provider, row.model) == ("think", "scripted", "m")
    assert (row.reply, row.reasoning) == ("Thus.", "Hm.")
    assert (row.stop_reason, row.error) == ("length", "ProviderError")
    assert (row.input_tokens, row.output_tokens) == (7, 2)
    assert (row.cached_tokens, row.reasoning_tokens) == (5, 1)
    assert row.started_at == datetime.fromtimestamp(1_800_000_000.5, UTC)
    assert (row.first_token_seconds, row.seconds) == (0.25, 1.5)


def test_storage_grows_with_the_turns_and_not_with_their_square(
    claimed: Callable[[], Run],
) -> None:
    few = store_all(claimed(), [request(turns) for turns in range(20)])
    many = store_all(claimed(), [request(turns) for turns in range(80)])
    assert many < 4.5 * few


def test_requests_of_another_purpose_share_nothing(claimed: Callable[[], Run]) -> None:
    run = claimed()
    log = CallLog(run, 0)
    for purpose in ("think", "choose_tool", "think", "choose_tool"):
        store(run, log.row(call(f"{purpose} {request(2)}", purpose), 0))

    calls = list(ModelCall.objects.with_requests(run))
    assert calls[3].request == f"choose_tool {request(2)}"


def test_a_call_stored_twice_is_one(claimed: Callable[[], Run]) -> None:
    run = claimed()
    row = CallLog(run, 0).row(call("x"), 0)
    store(run, row)
    store(run, row)
    assert run.model_calls.count() == 1


def test_a_request_that_does_not_add_up_is_not_shown(claimed: Callable[[], Run]) -> None:
    run = claimed()
    store_all(run, [request(1), request(2)])
    change(run, "Thought 0", "Thought 1")
    is_refused(run)


def test_a_request_that_lacks_a_piece_is_not_shown(claimed: Callable[[], Run]) -> None:
    run = claimed()
    store_all(run, [request(1), request(2)])
    run.pieces.filter(text__contains="Thought 1").delete()
    is_refused(run)


def test_a_request_that_names_a_call_that_is_not_there_is_not_shown(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    store_all(run, [request(1), request(2)])
    run.model_calls.filter(index=0).delete()
    is_refused(run)


def is_refused(run: Run) -> None:
    with pytest.raises(RequestCorrupted):
        list(ModelCall.objects.with_requests(run))
    with pytest.raises(RequestCorrupted):
        ModelCall.objects.with_request(run, 1)


def change(run: Run, old: str, new: str) -> Piece:
    """Change the one piece that has a text, as somebody would who must not."""
    piece = run.pieces.get(text__contains=old)
    run.pieces.filter(digest=piece.digest).update(text=piece.text.replace(old, new))
    return piece


def test_a_new_attempt_stores_no_piece_twice_and_begins_with_requests_of_its_own(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    requests = [
        body(*(enclosed("observation", f"{n}") for n in range(turns))) for turns in range(5)
    ]
    store_all(run, requests)
    before = run.pieces.count()
    run.attempt = 2
    run.save(update_fields=["attempt"])
    log = CallLog(run, len(requests))
    for text in requests[3:]:
        store(run, log.row(call(text), 0))

    assert run.pieces.count() == before
    assert [c.request for c in ModelCall.objects.with_requests(run)] == requests + requests[3:]
    assert all(isinstance(entry, str) for entry in run.model_calls.get(index=5).pieces or [0])


def test_a_worker_that_lost_its_run_stores_no_piece(claimed: Callable[[], Run]) -> None:
    run = claimed()
    row = CallLog(run, 0).row(call(request(2)), 0)
    Run.objects.filter(pk=run.pk).update(attempt=2)

    with pytest.raises(LeaseLost):
        store(run, row)

    assert run.pieces.count() == 0


def test_a_call_its_pieces_and_its_turn_are_stored_by_one_statement(
    claimed: Callable[[], Run], django_assert_num_queries: Any
) -> None:
    run = claimed()
    turn = Turn(run=run, index=0, attempt=1, kind="thought", started_at=timezone.now())
    row = CallLog(run, 0).row(call(request(2)), 0)

    with django_assert_num_queries(1):
        store(run, row, turn)

    assert (run.model_calls.count(), run.turns.count(), run.pieces.count() > 1) == (1, 1, True)


def test_calls_that_a_live_run_makes_meanwhile_are_left_for_the_next_look(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    log = CallLog(run, 0)
    for turns in range(2):
        store(run, log.row(call(request(turns)), 0))
    calls = ModelCall.objects.with_requests(run)
    first = next(calls)
    for turns in range(2, 40):
        store(run, log.row(call(request(turns)), 0))

    assert [first.index, *(one.index for one in calls)] == [0, 1]


def test_a_run_is_deleted_with_its_pieces(claimed: Callable[[], Run]) -> None:
    run, other = claimed(), claimed()
    store_all(run, [request(2)])
    store_all(other, [request(2)])

    run.delete()

    assert set(Piece.objects.values_list("run_id", flat=True)) == {other.pk}


def test_a_call_that_was_cut_off_does_not_count_for_where_a_run_goes_on(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    log = CallLog(run, 0)
    store(run, log.row(call("x").model_copy(update={"error": "Interrupted"}), 0))
    now = timezone.now()
    done = Turn(run=run, index=0, attempt=1, kind="thought", started_at=now, ended_at=now)
    done.status, done.actions = TurnStatus.COMPLETE, []
    store(run, log.row(call("x"), 0), done)
    run.attempt = 2

    before = Before.read(run)

    assert (before.calls, before.position()) == (2, 1)


def test_a_call_that_a_later_attempt_made_again_counts_once(claimed: Callable[[], Run]) -> None:
    run = claimed()
    log = CallLog(run, 0)
    for attempt, purpose in ((1, "think"), (1, "choose_tool"), (2, "choose_tool")):
        run.attempt = attempt
        run.save(update_fields=["attempt"])
        store(run, log.row(call(purpose, purpose), 0))
    now = timezone.now()
    done = Turn(run=run, index=0, attempt=2, kind="action", started_at=now, ended_at=now)
    done.status, done.actions = TurnStatus.COMPLETE, []
    store(run, log.row(call("fill_inputs", "fill_inputs"), 0), done)
    run.attempt = 3

    before = Before.read(run)

    assert (before.calls, before.position()) == (4, 3)
