"""A run goes on from observations that are artifacts as it would from those in its rows."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat.models import Run, RunStatus
from chat.operations.verify import Verdict, verify
from tests.integration.here import here
from tests.worker_stage import telling_tools

SCRIPT = [
    {"say": 'Thought: Much.\nAction: telling__tell\nAction Input: {"word": "ü", "times": 16000}'},
    {"say": "Thought: A picture.\nAction: telling__show\nAction Input: {}"},
    {"say": "Thought: I know now.\nFinal Answer: Done."},
]


@pytest.fixture
def telling(set_up: Callable[..., None], tmp_path: Path) -> None:
    """Offer tools that say much and show pictures."""
    file = tmp_path / "mcp.json"
    command = {"command": sys.executable, "args": [telling_tools.__file__], "reaches_out": False}
    file.write_text(json.dumps({"mcpServers": {"telling": command}}))
    set_up(TURNSTONE_MCP=str(file))


@pytest.mark.usefixtures("telling")
def test_a_run_that_is_taken_up_by_another_worker_sees_what_the_first_one_saw(
    asked: Callable[..., Run], folder: Path
) -> None:
    run = asked(SCRIPT, tools=("telling__*",))
    here().work(run.pk)
    digests = list(run.model_calls.values_list("digest", flat=True))
    turns = [turn.as_contract() for turn in run.turns.all()]
    interrupt(run)

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, "Done.", 2)
    assert list(run.model_calls.values_list("digest", flat=True)) == digests
    assert [turn.as_contract() for turn in run.turns.all()] == turns
    assert run.artifacts.count() == 2
    assert verify(run).verdict is Verdict.AGREES


@pytest.mark.usefixtures("telling")
def test_a_run_waits_for_the_artifacts_that_it_goes_on_from(
    asked: Callable[..., Run],
    working: Any,
    folder: Path,
    wait_for: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = asked(SCRIPT, tools=("telling__*",))
    here().work(run.pk)
    interrupt(run)
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")

    work = working(run)
    with caplog.at_level("WARNING"), work:
        wait_for(lambda: "Waiting for the artifacts" in caplog.text, "an attempt that waits")
        folder.unlink()
        folder.with_name("elsewhere").rename(folder)
        work.wait()

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "Done.")


@pytest.mark.usefixtures("telling")
def test_a_run_that_lost_what_it_goes_on_from_fails_in_words(
    asked: Callable[..., Run], folder: Path
) -> None:
    run = asked(SCRIPT, tools=("telling__*",))
    here().work(run.pk)
    interrupt(run)
    shutil.rmtree(folder)

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "internal")
    assert run.message


def interrupt(run: Run) -> None:
    """Put the run back to where its last turn was not begun."""
    last = run.turns.order_by("-index")[0]
    last.delete()
    run.model_calls.filter(turn_index=last.index).delete()
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.INTERRUPTED, ended_at=None, reason="", answer="", answer_html=""
    )
