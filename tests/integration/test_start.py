"""`make run` in a checkout of its own: it starts, serves, survives and leaves nothing behind."""

import json
import os
import shutil
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.launch import PROGRAMS, Launch, copy_of_the_checkout

pytestmark = pytest.mark.processes

Wait = Callable[..., None]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a checkout needs to run to a path with a space in it."""
    return copy_of_the_checkout(tmp_path_factory.mktemp("a check out"))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launch]:
    """Start one in a folder too deep for a socket's path, for the tests that only look."""
    folder = copy_of_the_checkout(tmp_path_factory.mktemp("deep") / ("deep" * 20) / ("deeper" * 10))
    one = Launch(folder)
    yield one
    one.end(signal.SIGTERM)
    shutil.rmtree((folder / ".local" / "run").readlink())


@pytest.fixture
def launch(checkout: Path, wait_for: Wait) -> Iterator[Callable[..., Launch]]:
    """Start a launcher and wait until it is ready; all of it is gone at the end."""
    launches: list[Launch] = []

    def begin(ready: bool = True, **environment: str) -> Launch:
        one = Launch(checkout, **environment)
        launches.append(one)
        if ready:
            _wait_until_ready(one, wait_for)
        return one

    yield begin
    for one in launches:
        if one.process.poll() is None:
            one.end(signal.SIGTERM)


def _wait_until_ready(one: Launch, wait_for: Wait) -> None:
    wait_for(lambda: one.url or one.process.poll() is not None, "the start", 60)
    assert one.url, one.output


def _still_alive(family: list[psutil.Process]) -> list[str]:
    return [str(one) for one in family if _lives(one)]


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _listening(process: psutil.Process) -> set[tuple[str, int]]:
    try:
        connections = process.net_connections("inet")
    except psutil.NoSuchProcess:  # one of Postgres' that came and went
        return set()
    listening = (one.laddr for one in connections if one.status == psutil.CONN_LISTEN)
    return {(address.ip, address.port) for address in listening}


def test_one_ctrl_c_stops_all_that_a_bare_checkout_started(launch: Callable[..., Launch]) -> None:
    running = launch()
    family = running.family()
    commands = " ".join(" ".join(one.cmdline()) for one in family)

    code = running.end(signal.SIGINT)

    for part in ("postgres", "valkey-server", "project.web", "celery"):
        assert part in commands
    assert code == 0
    assert _still_alive(family) == []
    assert "Traceback" not in running.output


def test_the_next_start_finds_the_same_account_and_ends_by_itself_if_postgres_dies(
    launch: Callable[..., Launch], checkout: Path
) -> None:
    running = launch()
    password = (checkout / ".local" / "demo-password").read_text().strip()
    family = running.family()

    running.part("postgres").kill()

    assert running.finished() == 1
    assert "Making a private Postgres" not in running.output
    assert f"Sign in as demo with the password {password}" in running.output
    assert "turnstone: postgres was ended by SIGKILL" in running.lines[-1]
    assert _still_alive(family) == []


@pytest.mark.parametrize("name", ["web", "worker", "valkey"])
def test_a_part_that_is_killed_is_started_anew_and_said_so(
    launch: Callable[..., Launch], wait_for: Wait, name: str
) -> None:
    running = launch()
    others = {other: running.part(other).pid for other in PROGRAMS if other != name}
    killed = running.part(name)

    killed.kill()

    wait_for(lambda: f"{name} was ended by SIGKILL" in running.output, "words on what died")
    wait_for(running.is_ready, "the part that died", 60)
    assert running.part(name).pid != killed.pid
    assert {other: running.part(other).pid for other in others} == others
    assert running.end(signal.SIGINT) == 0
    assert "Traceback" not in running.output


def test_a_part_that_dies_again_and_again_ends_the_whole(
    launch: Callable[..., Launch], wait_for: Wait
) -> None:
    running = launch()
    family = running.family()
    killed: set[int] = set()

    def is_over() -> bool:
        with suppress(psutil.NoSuchProcess, StopIteration):
            worker = running.part("worker")
            if worker.pid not in killed:
                killed.add(worker.pid)
                worker.kill()
        return running.process.poll() is not None

    wait_for(is_over, "the end", 60)

    assert running.finished() == 1
    assert len(killed) == 3
    assert "turnstone: worker died 3 times within 60 s: worker was ended by" in running.lines[-1]
    assert _still_alive(family) == []


def test_a_killed_launcher_takes_everything_with_it_and_no_stale_pid_file_blocks_the_next(
    launch: Callable[..., Launch], checkout: Path, wait_for: Wait
) -> None:
    killed = launch()
    family = killed.family()

    killed.end(signal.SIGKILL)

    wait_for(lambda: not _still_alive(family), "the end of what it started")
    stale = checkout / ".local" / "postgres" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{stale.parent}\n1\n5432\n\n\n0 0\nready\n")
    assert json.loads(launch().get("/readyz"))["ready"] is True


def test_a_copy_in_a_very_deep_folder_runs_beside_another(
    running: Launch, launch: Callable[..., Launch], wait_for: Wait
) -> None:
    _wait_until_ready(running, wait_for)

    other = launch()

    assert other.url != running.url
    assert json.loads(other.get("/readyz"))["ready"] is True
    assert json.loads(running.get("/readyz"))["ready"] is True


def test_nothing_is_open_to_other_people_of_the_machine(running: Launch, wait_for: Wait) -> None:
    _wait_until_ready(running, wait_for)
    local = running.checkout / ".local"

    listening = set().union(*(_listening(one) for one in running.family()))

    assert listening == {("127.0.0.1", int(running.url.rpartition(":")[2]))}
    sockets = (local / "run").readlink()
    for folder in (local, sockets, local / "postgres", local / "valkey", local / "log"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for found in sockets.iterdir():
        assert stat.S_IMODE(found.stat().st_mode) & 0o077 == 0


def test_a_second_start_in_the_same_folder_is_refused(running: Launch, wait_for: Wait) -> None:
    _wait_until_ready(running, wait_for)

    second = Launch(running.checkout)

    assert second.finished() == 1
    assert len(second.lines) == 1
    assert "already runs in this folder" in second.output


def test_a_port_in_use_is_refused_in_one_line(launch: Callable[..., Launch]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = launch(ready=False, PORT=str(taken.getsockname()[1]))
        code = refused.finished()

    assert code == 1
    assert len(refused.lines) == 1
    assert "is in use" in refused.output


def test_a_database_that_is_away_is_told_in_one_line(launch: Callable[..., Launch]) -> None:
    refused = launch(ready=False, DATABASE_URL="postgres://ada:hush@127.0.0.1:1/turnstone")

    assert refused.finished() == 1
    assert "The database of DATABASE_URL cannot be reached" in refused.lines[-1]
    assert "hush" not in refused.output
    assert "Traceback" not in refused.output
