"""A real worker takes what waits, by message or without, and no message starts a second copy."""

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis
from django.db import connection
from django.db.models import F

from chat.models import Conversation, PolicyVersion, Run, RunStatus, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop
from chat.stream.streams import run_key
from project.local import programs
from project.local.processes import Child, start, stop

WaitFor = Callable[..., None]
Start = Callable[..., Child]
SLOW = "Thought: " + " ".join(["hm"] * 60) + "\nFinal Answer: 4"


@pytest.fixture
def start_worker(transactional_db: None, valkey: object, tmp_path: Path) -> Iterator[Start]:
    """Start a Celery worker on the test's database: `start_worker(WORKER_THREADS="1")`."""
    children: list[Child] = []
    log = tmp_path / "worker.log"

    def note(name: str, line: str) -> None:
        with log.open("a") as file:
            file.write(f"{name} | {line}\n")

    def begin(**environment: str) -> Child:
        children.append(start(programs.worker(_environment() | environment), note))
        return children[-1]

    yield begin
    for run in Run.objects.live():
        request_stop(run)
    stop(children, patience=20)
    print(log.read_text() if log.exists() else "No worker said anything.")


def _environment() -> dict[str, str]:
    parts = urlsplit(os.environ["DATABASE_URL"])
    folder = parts.path.rpartition("/")[0]
    name = str(connection.settings_dict["NAME"])
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "TURNSTONE_"))}
    return kept | {
        "DATABASE_URL": urlunsplit(parts._replace(path=f"{folder}/{name}")),
        "DATABASE_POOL": "4",
        "WORKER_THREADS": "2",
        "TURNSTONE_LOCAL_SERVERS": "none",
        "PYTHONUNBUFFERED": "1",
    }


def _nobody_listens() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def ask_many(scripted: Callable[..., PolicyVersion]) -> Callable[..., list[Run]]:
    """Ask questions of a person in a new conversation."""

    def ask_it(user: User, count: int, say: str = "Final Answer: 4", **more: Any) -> list[Run]:
        version = scripted([{"say": say, **more}])
        conversation = Conversation.objects.create(owner=user)
        return [
            ask(conversation, "2 + 2?", policy_version=version, client_message_id=uuid.uuid4())
            for _ in range(count)
        ]

    return ask_it


def all_answered() -> bool:
    return not Run.objects.exclude(status=RunStatus.SUCCEEDED).exists()


def test_a_redelivered_message_starts_no_second_copy(
    start_worker: Start,
    ask_many: Callable[..., list[Run]],
    ada: User,
    valkey: redis.Redis,
    wait_for: WaitFor,
) -> None:
    (run,) = ask_many(ada, 1, SLOW, rate=10)
    start_worker(TURNSTONE_VISIBILITY_SECONDS="1")

    # Its worker has the message for as long as it works, but for what Redis delivers again.
    running = Run.objects.filter(status=RunStatus.RUNNING)
    wait_for(running.exists, "the run to begin")
    wait_for(lambda: valkey.hlen("unacked") == 0, "a second delivery to be acknowledged")
    assert Run.objects.get(pk=run.pk).status == RunStatus.RUNNING
    wait_for(all_answered, "the answer")
    run.refresh_from_db()
    assert (run.attempt, run.model_calls.count(), run.turns.count()) == (1, 1, 1)


def test_a_busy_worker_keeps_no_message_that_an_idle_one_could_have(
    start_worker: Start,
    ask_many: Callable[..., list[Run]],
    ada: User,
    valkey: redis.Redis,
    wait_for: WaitFor,
) -> None:
    ask_many(ada, 4, SLOW, rate=2)
    start_worker(WORKER_THREADS="1")
    running = Run.objects.filter(status=RunStatus.RUNNING)
    wait_for(lambda: running.count() == 1, "the first run to begin")
    wait_for(lambda: valkey.hlen("unacked") == 1, "the worker to take a message")
    assert (running.count(), valkey.llen("celery")) == (1, 3)


def test_one_place_takes_run_after_run_without_another_message(
    start_worker: Start,
    ask_many: Callable[..., list[Run]],
    ada: User,
    valkey: redis.Redis,
    wait_for: WaitFor,
) -> None:
    ask_many(ada, 8)
    valkey.ltrim("celery", 0, 0)  # all messages but one are lost
    start_worker(WORKER_THREADS="1")
    wait_for(all_answered, "all answers")


def test_runs_that_no_message_tells_of_are_found_by_all_places(
    start_worker: Start,
    ask_many: Callable[..., list[Run]],
    ada: User,
    bob: User,
    valkey: redis.Redis,
    wait_for: WaitFor,
) -> None:
    ask_many(ada, 2, SLOW, rate=10)
    ask_many(bob, 2, SLOW, rate=10)
    valkey.delete("celery")
    start_worker(WORKER_THREADS="3")
    running = Run.objects.filter(status=RunStatus.RUNNING)
    wait_for(lambda: running.count() == 3, "each place to have a run")


def test_a_worker_works_while_there_is_no_broker(
    start_worker: Start, ask_many: Callable[..., list[Run]], ada: User, wait_for: WaitFor
) -> None:
    ask_many(ada, 5)
    start_worker(REDIS_URL=f"redis://127.0.0.1:{_nobody_listens()}/0")
    wait_for(all_answered, "all answers")


def test_a_worker_that_is_told_to_stop_hands_over_what_no_message_brought(
    start_worker: Start,
    ask_many: Callable[..., list[Run]],
    ada: User,
    valkey: redis.Redis,
    wait_for: WaitFor,
) -> None:
    (run,) = ask_many(ada, 1, SLOW, rate=10)
    valkey.delete("celery")
    child = start_worker(TURNSTONE_GRACE_SECONDS="2")
    wait_for(lambda: valkey.xlen(run_key(run.pk)) > 3, "the run to be in the middle of a step")
    child.ask_to_stop()
    wait_for(lambda: child.code is not None, "the worker to end")
    assert status_of(run) == RunStatus.INTERRUPTED


def test_a_worker_that_is_told_to_stop_without_its_broker_hands_over_all_the_same(
    start_worker: Start, ask_many: Callable[..., list[Run]], ada: User, wait_for: WaitFor
) -> None:
    (run,) = ask_many(ada, 1, SLOW, rate=2)
    child = start_worker(
        REDIS_URL=f"redis://127.0.0.1:{_nobody_listens()}/0", TURNSTONE_GRACE_SECONDS="0"
    )
    wait_for(lambda: status_of(run) == RunStatus.RUNNING, "the run to begin")
    child.ask_to_stop()
    wait_for(lambda: status_of(run) == RunStatus.INTERRUPTED, "the run to be let go of")
    wait_for(lambda: child.code is not None, "the worker to end")


SAYS_WHO_IS_THERE = """
import os, sys, threading
from celery import signals
from project.celery import app

def say(**_):
    print(*(thread.name for thread in threading.enumerate()), flush=True)
    os._exit(0)

moment = getattr(signals, sys.argv[1])
# As late as can be: after all others who listen.
signals.celeryd_init.connect(lambda **_: moment.connect(say, weak=False), weak=False)
app.worker_main(["worker", "--pool=threads"])
"""
"""A worker that ends at the moment of a signal, and says by what names its threads tell of them."""


def threads_at(moment: str) -> list[str]:
    command = [sys.executable, "-c", SAYS_WHO_IS_THERE, moment]
    said = subprocess.run(command, env=_environment(), capture_output=True, text=True, timeout=60)
    assert "MainThread" in said.stdout, said.stderr
    return said.stdout.split()


def test_nobody_claims_a_run_before_the_worker_can_be_told_to_stop() -> None:
    assert not {"reaper", "watch"}.intersection(threads_at("celeryd_after_setup"))


def test_a_worker_that_has_no_run_yet_watches_and_takes_back(transactional_db: None) -> None:
    assert {"reaper", "watch"} <= set(threads_at("worker_ready"))


def test_a_dead_workers_run_is_taken_back_by_one_that_has_no_place_to_spare(
    start_worker: Start, ask_many: Callable[..., list[Run]], ada: User, bob: User, wait_for: WaitFor
) -> None:
    short = {"WORKER_THREADS": "1", "TURNSTONE_LEASE_SECONDS": "1"}
    (hers,) = ask_many(ada, 1, SLOW, rate=5)
    first = start_worker(**short)
    wait_for(lambda: status_of(hers) == RunStatus.RUNNING, "the first worker to begin")
    (his,) = ask_many(bob, 1, SLOW, rate=5)
    start_worker(**short)
    wait_for(lambda: status_of(his) == RunStatus.RUNNING, "the second worker to be busy")
    first.kill()
    wait_for(lambda: status_of(hers) == RunStatus.INTERRUPTED, "the lost run to be taken back")
    assert status_of(his) == RunStatus.RUNNING


def status_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).status


def test_the_time_of_an_attempt_that_died_counts(
    start_worker: Start, ask_many: Callable[..., list[Run]], ada: User, wait_for: WaitFor
) -> None:
    (run,) = ask_many(ada, 1, SLOW, rate=5)
    child = start_worker(TURNSTONE_LEASE_SECONDS="2")
    renewed = Run.objects.filter(
        pk=run.pk, lease_until__gt=F("claimed_at") + timedelta(seconds=2.5)
    )
    wait_for(renewed.exists, "the lease to be renewed")
    child.kill()
    start_worker(TURNSTONE_LEASE_SECONDS="2")
    wait_for(lambda: Run.objects.get(pk=run.pk).attempt == 2, "the second attempt")
    assert Run.objects.get(pk=run.pk).seconds_used > 0.5
