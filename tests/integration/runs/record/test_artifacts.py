"""Pictures and very long observations are files, and whoever reads a run notices nothing of it."""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from agents.contracts import EndReason, Image, Observation, Outcome, Status, ToolCall, Turn
from agents.events import (
    ActionsProposed,
    ActionStarted,
    ObservationDelta,
    Observed,
    RunEnded,
    TurnCompleted,
    TurnStarted,
)
from chat.artifacts.store import content_of
from chat.models import Action, Artifact, Run, Stray, TurnDocument, User
from chat.operations.verify import Verdict, verify
from chat.runs.lease import LeaseLost
from chat.runs.record.artifacts import LONG
from chat.runs.worker.sweeper import sweep_one
from chat.search.documents.turns import index_turn
from chat.search.recall import find_turns
from chat.stream.render import render_turn
from tests.recording import observe, recorder_of
from tests.worker_stage.telling_tools import PNG

PICTURE = Image(media_type="image/png", data=PNG)
LETTERS = "".join(f"zeile{number} äöü\n" for number in range(8_000))
LONG_TEXT = Observation(text=LETTERS)
SHOWN = Observation(text="A square.", images=(PICTURE,))
SHORT = Observation(text="Nothing.")


@pytest.fixture
def run(claimed: Callable[[], Run]) -> Run:
    return claimed()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def actions(run: Run) -> list[Action]:
    return list(Action.objects.filter(turn__run=run).order_by("turn__index", "position"))


def test_a_picture_and_a_long_text_are_files_and_their_rows_stay_small(
    run: Run, folder: Path
) -> None:
    observe(recorder_of(run), 0, SHOWN, LONG_TEXT, SHORT)

    shown, long, short = actions(run)
    picture, text = run.artifacts.order_by("name")
    assert (picture.name, picture.media_type) == ("turn-1-action-1-picture-1.png", "image/png")
    assert (text.name, text.media_type) == ("turn-1-action-2.txt", "text/plain")
    assert picture.turn == text.turn == run.turns.get()
    assert picture.space_id == text.space_id == run.space_id
    assert picture.content == b64decode(PNG)
    assert text.content.decode() == LETTERS
    assert (text.size, picture.size) == (len(LETTERS.encode()), len(b64decode(PNG)))
    assert files(folder) == sorted([picture.sha256, text.sha256])
    assert shown.images == [
        {"media_type": "image/png", "name": picture.name, "sha256": picture.sha256}
    ]
    assert (long.whole, long.whole_length) == (text.sha256, len(LETTERS))
    assert len(long.observation or "") < 17_000
    assert (long.observation or "").startswith(LETTERS[:8_000])
    assert (long.observation or "").endswith(LETTERS[-8_000:])
    assert (short.observation, short.whole, short.images) == ("Nothing.", "", None)


def test_what_a_run_goes_on_from_is_what_was_observed_to_the_letter(run: Run, folder: Path) -> None:
    told = observe(recorder_of(run), 0, SHOWN, LONG_TEXT, SHORT)

    assert run.turns.get().as_contract() == told


def test_an_observation_of_just_so_many_bytes_stays_in_its_row(run: Run, folder: Path) -> None:
    most = Observation(text="ä" * (LONG // 2))
    more = Observation(text="ä" * (LONG // 2) + "x")

    observe(recorder_of(run), 0, most, more)

    first, second = actions(run)
    assert (first.observation, first.whole) == (most.text, "")
    assert (second.text, second.whole_length) == (more.text, LONG // 2 + 1)


def test_a_turn_without_anything_big_is_written_as_before(run: Run, folder: Path) -> None:
    recorder = recorder_of(run)

    with CaptureQueriesContext(connection) as queries:
        observe(recorder, 0, SHORT)

    assert len(queries) == 2
    assert not any("chat_stray" in query["sql"] for query in queries)
    assert not folder.exists()


def test_a_file_is_written_before_the_row_that_names_it(run: Run, folder: Path) -> None:
    recorder = recorder_of(run)
    recorder.record(TurnStarted(index=0))
    recorder.record(ActionsProposed(calls=(ToolCall(tool="look", inputs={}),)))
    recorder.record(ActionStarted())

    recorder.record(Observed(observation=SHOWN))

    [digest] = files(folder)
    assert Artifact.objects.count() == 0
    assert Stray.objects.get().sha256 == digest


def test_a_worker_that_lost_its_run_leaves_a_file_that_can_be_swept_and_no_row(
    run: Run, folder: Path
) -> None:
    recorder = recorder_of(run)
    recorder.record(TurnStarted(index=0))
    recorder.record(ActionsProposed(calls=(ToolCall(tool="look", inputs={}),) * 2))
    recorder.record(ActionStarted())
    Run.objects.filter(pk=run.pk).update(attempt=run.attempt + 1)

    with pytest.raises(LeaseLost):
        recorder.record(Observed(observation=SHOWN))

    assert (Artifact.objects.count(), Stray.objects.count()) == (0, 1)
    assert actions(run)[0].observation is None


def test_what_a_tool_had_said_when_its_run_was_ended_is_a_file_as_well(
    run: Run, folder: Path
) -> None:
    recorder = recorder_of(run)
    recorder.record(TurnStarted(index=0))
    recorder.record(ActionsProposed(calls=(ToolCall(tool="look", inputs={}),)))
    recorder.record(ActionStarted())
    recorder.record(ObservationDelta(text=LETTERS))

    recorder.record(RunEnded(outcome=Outcome(status=Status.STOPPED, reason=EndReason.STOPPED)))

    [action] = actions(run)
    assert (action.text, action.error) == (LETTERS, "Interrupted")
    assert run.artifacts.get().sha256 == action.whole


def test_a_picture_that_two_turns_show_is_one_file_and_two_artifacts(
    run: Run, folder: Path
) -> None:
    recorder = recorder_of(run)
    observe(recorder, 0, SHOWN)
    observe(recorder, 1, SHOWN)

    names = run.artifacts.order_by("name").values_list("name", flat=True)
    assert list(names) == ["turn-1-action-1-picture-1.png", "turn-2-action-1-picture-1.png"]
    assert len(files(folder)) == 1


@pytest.mark.parametrize("data", ["AAAAA", "AAB=", "/9j/AAB="])
def test_what_is_no_whole_picture_stays_in_its_row_as_it_was_given(
    run: Run, folder: Path, data: str
) -> None:
    odd = Observation(text="Hm.", images=(Image(media_type="image/png", data=data), PICTURE))

    told = observe(recorder_of(run), 0, odd)

    [action] = actions(run)
    assert [("data" in image, "sha256" in image) for image in action.images or ()] == [
        (True, False),
        (False, True),
    ]
    assert run.turns.get().as_contract() == told


def test_while_the_store_is_away_the_row_keeps_all_of_an_observation(
    run: Run, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("no folder")

    told = observe(recorder_of(run), 0, SHOWN, LONG_TEXT)

    shown, long = actions(run)
    assert run.turns.get().as_contract() == told
    assert (long.observation, long.whole) == (LETTERS, "")
    assert shown.images == [{"media_type": "image/png", "data": PNG}]
    assert Artifact.objects.count() == 0
    assert caplog.text.count("An observation stays in its row") == 2


def test_a_content_that_was_swept_before_its_row_came_is_put_there_once_more(
    run: Run, folder: Path
) -> None:
    recorder = recorder_of(run)
    call = ToolCall(tool="look", inputs={})
    recorder.record(TurnStarted(index=0))
    recorder.record(ActionsProposed(calls=(call,)))
    recorder.record(ActionStarted())
    recorder.record(Observed(observation=SHOWN))
    Stray.objects.update(until=Now())
    assert [sweep_one(), sweep_one()] == [True, None]
    assert files(folder) == []

    recorder.record(TurnCompleted(turn=Turn(index=0)))

    assert run.artifacts.get().content == b64decode(PNG)


def test_a_very_long_text_is_found_by_words_of_its_middle_and_shown_there(
    run: Run, folder: Path, ada: User
) -> None:
    observe(recorder_of(run), 0, LONG_TEXT)
    turn = run.turns.select_related("run__conversation").get()
    words = TurnDocument.objects.values_list("words", "is_cut")
    as_told = words.get()

    index_turn(turn)

    assert words.get() == as_told
    [found] = find_turns(ada)("zeile5555")
    assert "zeile5555" in found.text
    assert content_of(run.artifacts.get().sha256)


def test_search_makes_do_with_both_ends_while_the_store_is_away(
    run: Run, folder: Path, ada: User
) -> None:
    observe(recorder_of(run), 0, LONG_TEXT)
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")

    [found] = find_turns(ada)("zeile5555")

    assert "zeile5555" not in found.text


def test_a_page_shows_a_long_text_as_one_that_its_row_has(run: Run, folder: Path) -> None:
    observe(recorder_of(run), 0, LONG_TEXT)
    [action] = actions(run)
    apart = render_turn(run.turns.get(), run)

    Action.objects.update(observation=LETTERS, whole="", whole_length=None)

    assert render_turn(run.turns.get(), run) == apart
    assert f"Show more of {len(LETTERS):,} characters" in apart
    assert action.whole not in apart


def test_what_was_lost_in_the_store_is_told_when_a_run_is_verified(run: Run, folder: Path) -> None:
    observe(recorder_of(run), 0, SHOWN)
    [file] = [path for path in folder.rglob("*") if path.is_file()]
    file.chmod(0o600)
    file.write_bytes(b"another")

    assert (verify(run).verdict, "is not what was stored" in verify(run).found) == (
        Verdict.DIFFERS,
        True,
    )
    file.unlink()
    assert "is not there any more" in verify(run).found
    Artifact.objects.all().delete()
    assert verify(run).found == "a turn names an artifact that it has not"


def test_a_run_whose_artifacts_are_away_cannot_be_verified_now(run: Run, folder: Path) -> None:
    observe(recorder_of(run), 0, SHOWN)
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")

    assert verify(run).verdict is Verdict.UNKNOWN
