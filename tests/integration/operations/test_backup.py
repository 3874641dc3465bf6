"""A backup holds the whole record, and a restored database goes on where it was."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from django.db import connection

from chat.models import Run
from project.errors import CannotStart
from project.ops import backup
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
Parameters = dict[str, Any]


@pytest.fixture
def recorded(asked: Callable[..., Run]) -> Run:
    """Make a run that was answered, and one that waits."""
    script = [{"say": CALCULATION}, {"say": "Final Answer: 42 in π and €"}]
    run = asked(script, tools=("calculator",))
    here().work(run.pk)
    asked([{"say": "Final Answer: later"}])
    connection.close()
    return run


def test_what_was_saved_is_restored_whole_and_verifies(
    recorded: Run,
    parameters: Parameters,
    empty: Parameters,
    python: Callable[..., str],
    tmp_path: Path,
) -> None:
    file = tmp_path / "turnstone.dump"

    backup.save(parameters, str(file))
    backup.restore(empty, str(file))

    with psycopg.connect(backup.address_of(empty)) as restored:
        rows = restored.execute("SELECT answer, status FROM chat_run ORDER BY id").fetchall()
    verified = python(empty, "manage.py", "runs", "verify", "--all")
    waiting = python(empty, "manage.py", "runs", "list")
    python(empty, "manage.py", "migrate", "--check")
    assert rows == [("42 in π and €", "succeeded"), ("", "queued")]
    assert verified == "Of 1 runs 1 agree, 0 differ, 0 cannot be replayed.\n"
    assert [line.split()[1] for line in waiting.splitlines()[1:]] == ["queued"]


def test_a_backup_is_readable_by_its_owner_only(
    recorded: Run, parameters: Parameters, tmp_path: Path
) -> None:
    file = tmp_path / "turnstone.dump"

    backup.save(parameters, str(file))

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_backup_replaces_no_file(parameters: Parameters, tmp_path: Path) -> None:
    file = tmp_path / "turnstone.dump"
    file.write_text("the only other copy")

    with pytest.raises(CannotStart, match="is there already"):
        backup.save(parameters, str(file))

    assert file.read_text() == "the only other copy"


def test_a_failed_backup_leaves_no_file(
    parameters: Parameters, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(backup.address_of(parameters)) as other:
        other.execute("LOCK TABLE chat_run IN ACCESS EXCLUSIVE MODE")
        wrong = parameters | {"user": "nobody_we_know"}
        with pytest.raises((CannotStart, psycopg.OperationalError)):
            backup.save(wrong | {"dbname": "not_there"}, str(tmp_path / "turnstone.dump"))

    assert list(tmp_path.iterdir()) == []


def test_a_database_in_use_is_not_restored_into(
    recorded: Run, parameters: Parameters, tmp_path: Path
) -> None:
    file = tmp_path / "turnstone.dump"
    backup.save(parameters, str(file))

    with pytest.raises(CannotStart, match="restore into an empty one"):
        backup.restore(parameters, str(file))

    assert Run.objects.count() == 2


def test_a_damaged_backup_leaves_the_database_empty(
    recorded: Run, parameters: Parameters, empty: Parameters, tmp_path: Path
) -> None:
    file = tmp_path / "turnstone.dump"
    backup.save(parameters, str(file))
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3])

    with pytest.raises(CannotStart, match="pg_restore ended"):
        backup.restore(empty, str(file))

    with psycopg.connect(backup.address_of(empty)) as restored:
        tables = restored.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchone() == (0,)


def test_a_restore_beside_the_real_database_leaves_the_live_tails_alone(
    recorded: Run,
    parameters: Parameters,
    empty: Parameters,
    python: Callable[..., str],
    tmp_path: Path,
    valkey: "redis.Redis",
) -> None:
    file = str(tmp_path / "turnstone.dump")
    backup.save(parameters, file)
    valkey.xadd("run:1", {"d": "[]"}, id="9-1")

    python(empty, "-m", "project.ops.backup", "restore", file)

    assert valkey.xlen("run:1") == 1


def test_live_tails_that_are_newer_than_the_backup_are_forgotten_when_one_says_so(
    recorded: Run,
    parameters: Parameters,
    empty: Parameters,
    python: Callable[..., str],
    tmp_path: Path,
    valkey: "redis.Redis",
) -> None:
    file = str(tmp_path / "turnstone.dump")
    backup.save(parameters, file)
    valkey.xadd("run:1", {"d": "[]"}, id="9-1")
    valkey.set("somebody:else", "kept")

    python(empty, "-m", "project.ops.backup", "restore", file, "--forget-streams")

    assert (valkey.exists("run:1"), valkey.get("somebody:else")) == (0, b"kept")


def test_a_redis_that_is_away_does_not_make_a_good_restore_look_bad(
    recorded: Run,
    parameters: Parameters,
    empty: Parameters,
    python: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = str(tmp_path / "turnstone.dump")
    backup.save(parameters, file)
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")

    words = python(empty, "-m", "project.ops.backup", "restore", file, "--forget-streams", code=1)

    assert "Restored. Now run: python manage.py migrate" in words
    assert "ERROR: The live tails could not be deleted, so empty that Redis" in words
    assert "Traceback" not in words
    verified = python(empty, "manage.py", "runs", "verify", "--all")
    assert verified == "Of 1 runs 1 agree, 0 differ, 0 cannot be replayed.\n"


def test_what_the_database_refuses_leaves_it_empty(
    recorded: Run, parameters: Parameters, empty: Parameters, tmp_path: Path
) -> None:
    file = tmp_path / "turnstone.dump"
    backup.save(parameters, str(file))
    with psycopg.connect(backup.address_of(empty)) as other:
        other.execute("CREATE TABLE chat_turn ()")

    with pytest.raises(CannotStart, match="psql ended"):
        backup.restore(empty, str(file))

    with psycopg.connect(backup.address_of(empty)) as restored:
        tables = restored.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == [("chat_turn",)]
