"""Claiming what is next, and ending it."""

from chat.models import Run
from chat.runs.ending import give_up
from chat.runs.worker.claim import claim_next


def claimed() -> Run:
    run = claim_next("a worker")
    assert run is not None
    return run


def all_claimed() -> list[int]:
    """Claim until nothing may be claimed, and return the runs in that order."""
    runs: list[int] = []
    while (run := claim_next("a worker")) is not None:
        runs.append(run.pk)
    return runs


def end(run: Run) -> None:
    give_up(run, "This test is done with it.")
