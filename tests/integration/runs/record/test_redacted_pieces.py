"""What is redacted is one piece: all requests can still be read, and say which were changed."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from chat.models import ModelCall, Run
from chat.request import RequestCorrupted
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from tests.integration.runs.record.test_model_calls import call, change, request, store_all


def redact(run: Run, secret: str) -> None:
    """Store other text for the pieces that hold a secret."""
    for piece in run.pieces.filter(text__contains=secret):
        text = piece.text.replace(secret, "[redacted]")
        piece.redacted(text, timezone.now()).save(force_update=True)


def test_what_is_redacted_in_one_piece_leaves_every_other_request_as_it_was(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    requests = [request(turns) for turns in range(6)]
    store_all(run, [*requests, request(2, "another thread")])

    redact(run, "Thought 3:")

    calls = list(ModelCall.objects.with_requests(run))
    assert [one.redacted_at is not None for one in calls] == [False] * 4 + [True] * 2 + [False]
    assert [one.request for one in calls[:4]] == requests[:4]
    assert calls[5].request == requests[5].replace("Thought 3:", "[redacted]")
    assert calls[6].request == request(2, "another thread")
    for one in calls:
        alone = ModelCall.objects.with_request(run, one.index)
        assert (alone.request, alone.redacted_at) == (one.request, one.redacted_at)


def test_what_was_not_redacted_of_a_request_still_has_to_add_up(claimed: Callable[[], Run]) -> None:
    run = claimed()
    store_all(run, [request(1), request(2)])
    redact(run, "Thought 1:")
    change(run, "Thought 0", "Thought 7")
    with pytest.raises(RequestCorrupted):
        ModelCall.objects.with_request(run, 1)


def test_what_was_redacted_stays_so_when_it_is_sent_again(claimed: Callable[[], Run]) -> None:
    run = claimed()
    store_all(run, [request(1), request(2)])
    redact(run, "Thought 1:")
    again = CallLog(run, 2)
    store(run, again.row(call(request(1)), 2))

    store(run, again.row(call(request(2)), 2))

    assert "Thought 1:" not in ModelCall.objects.with_request(run, 3).request
