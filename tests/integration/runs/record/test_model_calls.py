"""What the model was sent is kept exactly, without growing with the square of the turns."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from agents import contracts
from chat.models import ModelCall, Run, Turn, TurnStatus
from chat.models.model_call import RequestCorrupted
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from chat.runs.resume import Before

TURN = 400


def request(turns: int) -> str:
    scratchpad = "".join(f"Thought {n}: {'é' * TURN}\n" for n in range(turns))
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": scratchpad}]})


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
    return sum(len(rest) for rest in run.model_calls.values_list("rest", flat=True))


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
        usage=contracts.Usage(input_tokens=7, output_tokens=2),
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
    assert [c.base and c.base.index for c in calls] == [None, None, 0, 1]
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
    run.model_calls.filter(index=0).update(rest=request(1).replace("m", "w"))
    with pytest.raises(RequestCorrupted):
        list(ModelCall.objects.with_requests(run))


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

    assert (before.calls, before.position) == (2, 1)


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

    assert (before.calls, before.position) == (4, 3)
