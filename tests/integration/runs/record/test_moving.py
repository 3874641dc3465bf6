"""What rows of earlier releases still hold is moved into the store by a command."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from chat.models import Action, Artifact, Run, RunStatus
from tests.stored_turns import store_action, store_turn

LONG = "ü" * 60_000
IMAGE = {"media_type": "image/png", "data": b64encode(b"a picture").decode()}
ODD = {"media_type": "image/png", "data": "AAAAA"}


@pytest.fixture
def run(claimed: Callable[[], Run], folder: Path) -> Run:
    """Store a run that has ended, with all that an action may have."""
    run = claimed()
    turn = store_turn(run, tool="look", observation=LONG, images=[IMAGE, ODD])
    store_action(turn, 1, tool="look", observation="Nothing.")
    store_action(turn, 2, tool="look", observation=None)
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.SUCCEEDED, ended_at=run.claimed_at, lease_until=None
    )
    return run


def told(capsys: pytest.CaptureFixture[str]) -> str:
    call_command("artifacts", "move")
    return capsys.readouterr().out


def test_what_a_row_holds_is_moved_once_and_reads_as_before(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = run.turns.get()
    before = turn.as_contract()

    assert told(capsys) == "Moved what 1 actions held.\n"

    assert run.turns.get().as_contract() == before
    names = run.artifacts.order_by("name").values_list("name", "turn")
    assert list(names) == [
        ("turn-1-action-1-picture-1.png", turn.pk),
        ("turn-1-action-1.txt", turn.pk),
    ]
    moved, *others = Action.objects.order_by("position")
    assert (moved.whole_length, (moved.images or [])[1]) == (len(LONG), ODD)
    assert [other.observation for other in others] == ["Nothing.", None]
    assert told(capsys) == "Moved what 0 actions held.\n"


def test_what_stayed_in_its_row_while_the_store_was_away_is_moved_later(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write_text("no folder")
    assert told(capsys) == "Moved what 0 actions held.\n"
    folder.unlink()

    assert told(capsys) == "Moved what 1 actions held.\n"

    found = Artifact.objects.values_list("space_id", flat=True)
    assert list(found) == [run.space_id] * 2


def test_a_run_that_is_worked_on_is_left_to_its_worker(
    claimed: Callable[[], Run], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_turn(claimed(), tool="look", observation=LONG)

    assert told(capsys) == "Moved what 0 actions held.\n"

    assert Action.objects.get().observation == LONG


def test_many_are_moved_portion_by_portion(
    run: Run, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    turn = run.turns.get()
    for position in range(3, 50):
        store_action(turn, position, tool="look", observation=LONG, images=[ODD])

    assert told(capsys) == "Moved what 48 actions held.\n"

    assert Artifact.objects.values("sha256").distinct().count() == 2
