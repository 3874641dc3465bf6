"""The requests in a file that is taken away: redacted, of an earlier release, or of a live run."""

import json
from collections.abc import Callable

from chat.models import Run, User
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store
from chat.transcripts.download import as_json
from tests.integration.runs.record.downloading import downloaded
from tests.integration.runs.record.test_download import requests_of
from tests.integration.runs.record.test_model_calls import call, request, store_all
from tests.integration.runs.record.test_older_requests import stored_before
from tests.integration.runs.record.test_redacted_pieces import redact


def test_the_file_says_what_was_redacted_and_all_else_adds_up(
    claimed: Callable[[], Run], ada: User
) -> None:
    run = claimed()
    store_all(run, [request(n) for n in range(4)])
    redact(run, "Thought 2:")

    content = downloaded(run, ada)

    expected = {n + 1: request(n) for n in range(4)}
    assert requests_of(content) == expected | {4: expected[4].replace("Thought 2:", "[redacted]")}
    (redacted,) = (piece for piece in content["pieces"] if piece["redacted_at"])
    assert redacted["text"].startswith("[redacted]")


def test_requests_of_an_earlier_release_are_put_together_as_well(
    claimed: Callable[[], Run], ada: User
) -> None:
    run = claimed()
    stored_before(run, [request(n) for n in range(3)])
    log = CallLog(run, 3)
    for number in range(3, 5):
        store(run, log.row(call(request(number)), 0))

    content = downloaded(run, ada)

    assert requests_of(content) == {n + 1: request(n) for n in range(5)}
    del content["pieces"], content["model_calls"][3:]
    assert requests_of(content) == {n + 1: request(n) for n in range(3)}


def test_the_file_of_a_live_run_has_every_piece_that_it_names(claimed: Callable[[], Run]) -> None:
    run = claimed()
    log = CallLog(run, 0)
    store(run, log.row(call(request(1)), 0))
    parts = as_json(run)
    begun = ""
    while '"pieces"' not in begun:
        begun += next(parts)
    store(run, log.row(call(request(2)), 0))

    content = json.loads(begun + "".join(parts))

    assert requests_of(content) == {1: request(1)}
