"""What no row names leaves the store, and nothing else does."""

from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models.functions import Now

from agents.contracts import Image, Observation
from chat.artifacts import store
from chat.models import Conversation, Run, Stray, User
from chat.people.deletion import delete_person
from chat.runs.record.artifacts import hold
from chat.runs.worker.sweeper import Sweeper, find_strays, sweep_one
from tests.recording import observe, recorder_of

CONTENTS = [b"one", b"two", b"three"]


def shown(*contents: bytes) -> Observation:
    """Observe pictures of these bytes."""
    images = (Image(media_type="image/png", data=b64encode(one).decode()) for one in contents)
    return Observation(text="Look.", images=tuple(images))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def digests(*contents: bytes) -> set[str]:
    return {store.digest_of_content(content) for content in contents}


@pytest.fixture
def run(claimed: Callable[[], Run], folder: Path) -> Run:
    """Work on a run that has seen three pictures."""
    run = claimed()
    observe(recorder_of(run), 0, shown(*CONTENTS))
    return run


def swept() -> int:
    """Sweep until nothing is due; return how many contents went."""
    count = 0
    while (is_gone := sweep_one()) is not None:
        count += is_gone
    return count


def test_the_files_of_a_conversation_go_with_it(run: Run, folder: Path) -> None:
    assert files(folder) == digests(*CONTENTS)

    run.conversation.delete()
    Sweeper().look()

    assert (files(folder), Stray.objects.count()) == (set(), 0)


def test_the_files_of_a_person_go_with_them(run: Run, folder: Path, ada: User) -> None:
    Stray.objects.all().delete()

    delete_person(ada)
    Sweeper().look()

    assert (files(folder), Stray.objects.count()) == (set(), 0)


def test_a_content_that_two_runs_have_stays_until_the_last_of_them_goes(
    run: Run, claimed: Callable[[], Run], folder: Path
) -> None:
    other = claimed()
    observe(recorder_of(other), 0, shown(CONTENTS[0]))
    Stray.objects.all().delete()

    run.delete()
    assert swept() == 2

    assert files(folder) == digests(CONTENTS[0])
    assert other.artifacts.get().content == CONTENTS[0]
    other.delete()
    assert swept() == 1


def test_a_content_whose_row_is_still_to_come_is_left_alone(folder: Path, run: Run) -> None:
    Stray.objects.all().delete()
    left = store.put(b"left alone")
    Stray.objects.create(sha256=left, until=Now() + timedelta(hours=1))

    assert swept() == 0

    assert left in files(folder)


def test_a_content_that_no_row_came_for_is_swept_when_its_time_is_over(
    folder: Path, run: Run
) -> None:
    left = store.put(b"left")
    Stray.objects.create(sha256=left, until=Now())

    assert swept() == 1

    assert files(folder) == digests(*CONTENTS)


def test_a_content_that_has_its_row_stays_when_its_time_is_over(run: Run, folder: Path) -> None:
    Stray.objects.update(until=Now())

    assert swept() == 0

    assert (files(folder), Stray.objects.count()) == (digests(*CONTENTS), 0)


def test_who_writes_a_content_again_waits_for_its_sweep_and_then_puts_it_there(
    run: Run, folder: Path
) -> None:
    artifact = run.artifacts.first()
    assert artifact is not None
    artifact.given = artifact.content
    run.artifacts.all().delete()
    Stray.objects.update(until=Now())

    def write() -> None:
        try:
            with transaction.atomic():
                hold([artifact])
        finally:
            connection.close()

    writer = Thread(target=write)
    with transaction.atomic():
        for _ in CONTENTS:
            assert sweep_one()
        writer.start()
        _wait_until_blocked()
    writer.join(20)

    assert files(folder) == {artifact.sha256}
    assert Stray.objects.get().sha256 == artifact.sha256


def _wait_until_blocked() -> None:
    """Wait until another connection waits for a row that this one holds."""
    with connection.cursor() as cursor:
        for _ in range(2_000):
            cursor.execute(
                "SELECT pg_sleep(0.01) FROM pg_stat_activity WHERE pg_backend_pid() = ANY "
                "(pg_blocking_pids(pid)) LIMIT 1"
            )
            if cursor.fetchone() is not None:
                return
            cursor.execute("SELECT pg_sleep(0.01)")
    pytest.fail("Nobody waited.")


def test_a_store_that_is_away_keeps_its_strays_for_another_time(
    run: Run, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run.delete()
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")

    Sweeper().look()

    assert Stray.objects.count() == 3
    assert "cannot reach the artifacts" in caplog.text


def test_after_a_restore_what_no_row_knows_is_found_by_looking_through_the_store(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Stray.objects.all().delete()
    store.put(b"of a later day")
    (folder / "aa").mkdir(exist_ok=True)
    (folder / "aa" / "no-digest").write_bytes(b"somebody else's")

    call_command("artifacts", "sweep", "--all")

    assert files(folder) == digests(*CONTENTS) | {"no-digest"}
    assert capsys.readouterr().out == (
        "Found 1 contents that nothing knows.\nDeleted 1 contents.\n"
    )


def test_an_empty_store_has_no_strays(transactional_db: None, folder: Path) -> None:
    assert find_strays() == 0


def test_what_a_killed_process_had_written_of_a_content_goes_with_it(
    transactional_db: None, folder: Path
) -> None:
    digest = store.put(b"whole")
    part = folder / digest[:2] / f"{digest}.a1b2c3"
    part.write_bytes(b"who")

    store.delete(digest)

    assert files(folder) == set()


@pytest.mark.usefixtures("run")
def test_a_worker_sweeps_by_itself(
    folder: Path, conversation: Conversation, wait_for: Callable[..., None]
) -> None:
    sweeper = Sweeper()
    conversation.delete()
    sweeper.start()
    try:
        wait_for(lambda: files(folder) == set(), "the sweep", seconds=30)
    finally:
        sweeper.close()
