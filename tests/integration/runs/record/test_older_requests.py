"""Calls that an earlier release stored are read as ever, also where a run went on since."""

from collections.abc import Callable

from chat.models import ModelCall, Run
from chat.request import digest_of
from chat.runs.record.pieces import shared_length
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from tests.integration.runs.record.test_model_calls import call, is_refused, request


def test_calls_of_an_earlier_release_and_of_this_one_stand_in_one_run(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    requests = [request(turns) for turns in range(4)]
    stored_before(run, requests)
    log = CallLog(run, len(requests))
    for text in requests[2:]:
        store(run, log.row(call(text), 0))

    expected = requests + requests[2:]
    assert [c.request for c in ModelCall.objects.with_requests(run)] == expected
    found = [ModelCall.objects.with_request(run, n).request for n in range(len(expected))]
    assert found == expected


def stored_before(run: Run, requests: list[str]) -> None:
    """Store calls in the form of earlier releases: what two requests share by its length."""
    base, last = None, ""
    for index, text in enumerate(requests):
        shared = shared_length(last, text)
        base, last = (
            ModelCall.objects.create(
                run=run,
                index=index,
                turn_index=0,
                attempt=1,
                purpose="think",
                provider="scripted",
                model="m",
                base=base,
                shared=shared,
                rest=text[shared:],
                digest=digest_of(text),
            ),
            text,
        )


def test_a_request_of_an_earlier_release_that_does_not_add_up_is_not_shown(
    claimed: Callable[[], Run],
) -> None:
    run = claimed()
    stored_before(run, [request(1), request(2)])
    run.model_calls.filter(index=0).update(rest=request(1).replace("m", "w"))
    is_refused(run)
