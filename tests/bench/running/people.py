"""The people of the bench: they ask the worker, see what it streams, and stop some of its runs.

`people.py URL N SEED STOPS`; after a line on stdin they ask, and say when the window opens and
closes. A person asks again as soon as the answer is there. Then some runs are stopped in the midst
of the others, then all of them, and at last everybody asks at once. Times are from before the row
is written to when the event is read from the run's stream, as a web process reads it.
"""

import heapq
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from redis import Redis  # noqa: E402

from agents.policies.spec import PolicySpec  # noqa: E402
from agents.providers.choice import ModelChoice  # noqa: E402
from chat.models import Conversation, Policy, Run, RunStatus, User  # noqa: E402
from chat.runs.ask import ask  # noqa: E402
from chat.runs.db_retry import release_connection  # noqa: E402
from chat.runs.stop import stop  # noqa: E402
from chat.stream.streams import run_key  # noqa: E402
from tests.bench.running.script import (  # noqa: E402
    IDEAL_SECONDS,
    QUESTION,
    TOOL,
    WINDOW_SECONDS,
    Sample,
    delays,
)

STOP_SECONDS = 5.0
"""The time over which the stops are spread."""
PATIENCE = 60.0
READ_MS = 10
WORKER = "worker"
"""The name under which the worker's connections are known to Postgres."""


def wait_until(is_true: Callable[[], bool], what: str) -> None:
    """Wait until something is seen; raises SystemExit when it takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        if time.monotonic() > deadline:
            sys.exit(f"Waited {PATIENCE:.0f} s in vain for {what}.")
        time.sleep(READ_MS / 1000)


def main(url: str, count: int, seed: int, stops: int) -> None:
    """Ask, watch and stop, and print what was seen."""
    people = People(url, count, seed)
    people.warm_up()
    print("up", flush=True)
    sys.stdin.readline()
    people.begin()
    people.sample.take(IDEAL_SECONDS, WINDOW_SECONDS)
    found = {"stops": people.stop_some(stops)}
    people.stop_all()
    found["burst"] = people.ask_at_once()
    people.stop_all()
    found["connections"] = [people.most_connections]
    print(json.dumps(people.sample.figures() | found), flush=True)


def give_up(message: str) -> None:
    """End the process from any of its threads."""
    print(message, file=sys.stderr, flush=True)
    os._exit(1)


class Watched:
    """One run as its asker sees it."""

    def __init__(self, person: int) -> None:
        self.person = person
        self.asked = time.monotonic()
        self.first = 0.0
        self.ended = 0.0
        self.cursor = b"0-0"


class People:
    """Those who ask, each with a user and policy of the same kind, and one who reads for all."""

    def __init__(self, url: str, count: int, seed: int) -> None:
        self.sample = Sample()
        self.most_connections = 0
        self._delays = delays(count, seed)
        name = uuid.uuid4().hex[:8]
        self._users = [User.objects.create_user(f"{name}-{place}") for place in range(count)]
        choice = ModelChoice(provider="openai", base_url=f"{url}/text/v1", model="fake")
        policy = Policy.objects.create(slug=f"bench-{name}", name="Bench")
        self._version = policy.publish(PolicySpec(policy="explicit", model=choice, tools=(TOOL,)))
        release_connection()
        self._runs: dict[int, Watched] = {}
        self._lock = threading.Lock()
        self._askers = ThreadPoolExecutor(8)
        self._due: list[tuple[float, int]] = []
        self._asks_again = True

    def warm_up(self) -> None:
        """See one run to its end, so that the worker is there and has loaded what it needs."""
        for work in (self._read, self._count_connections):
            threading.Thread(target=work, daemon=True).start()
        self._ask(0)
        self._wait_for(list(self._runs.values()))

    def begin(self) -> None:
        """Let everybody begin to ask, at moments of their own."""
        start = time.monotonic()
        self._due = [(start + delay, place) for place, delay in enumerate(self._delays)]
        heapq.heapify(self._due)
        threading.Thread(target=self._ask_when_due, daemon=True).start()

    def stop_some(self, count: int) -> list[float]:
        """Stop some runs that show text, one after the other, and return how long each took."""
        stopped: list[tuple[float, Watched]] = []
        for _ in range(count):
            time.sleep(STOP_SECONDS / count)
            pk, run = self._one_that_speaks({id(run) for _, run in stopped}, len(stopped))
            at = time.monotonic()
            stop(Run.objects.get(pk=pk))
            release_connection()
            stopped.append((at, run))
        self._wait_for([run for _, run in stopped])
        return [run.ended - at for at, run in stopped]

    def _one_that_speaks(self, taken: set[int], number: int) -> tuple[int, Watched]:
        """Return a run that shows text, a different one for each number."""
        found: list[tuple[int, Watched]] = []

        def look() -> bool:
            with self._lock:
                runs = list(self._runs.items())
            found[:] = [
                (pk, run)
                for pk, run in runs
                if run.first and not run.ended and id(run) not in taken
            ]
            return bool(found)

        wait_until(look, "a run to stop")
        return found[number % len(found)]

    def stop_all(self) -> None:
        """Let nobody ask again, and stop what runs."""
        self._asks_again = False
        time.sleep(0.2)
        with self._lock:
            runs = {pk: run for pk, run in self._runs.items() if not run.ended}
        for pk in runs:
            stop(Run.objects.get(pk=pk))
        release_connection()
        self._wait_for(list(runs.values()))

    def ask_at_once(self) -> list[float]:
        """Let everybody ask at once; return the seconds to each first token."""
        before = set(self._runs)
        for _ in self._askers.map(self._ask, range(len(self._users))):
            pass
        with self._lock:
            runs = [run for pk, run in self._runs.items() if pk not in before]
        wait_until(lambda: all(run.first for run in runs), "the first tokens")
        return [run.first - run.asked for run in runs]

    def _wait_for(self, runs: list[Watched]) -> None:
        wait_until(lambda: all(run.ended for run in runs), "the ends")

    def _ask_when_due(self) -> None:
        while True:
            time.sleep(0.002)
            with self._lock:
                due = self._due and self._due[0][0] <= time.monotonic()
                person = heapq.heappop(self._due)[1] if due else None
            if person is not None and self._asks_again:
                self._askers.submit(self._ask, person)

    def _ask(self, person: int) -> None:
        try:
            conversation = Conversation.objects.create(owner=self._users[person])
            watched = Watched(person)
            run = ask(
                conversation,
                QUESTION,
                policy_version=self._version,
                client_message_id=uuid.uuid4(),
            )
            with self._lock:
                self._runs[run.pk] = watched
        except Exception as error:
            give_up(f"Asking failed: {error!r}")
        finally:
            release_connection()

    def _read(self) -> None:
        """Read all runs' streams, as the reader of a web process does."""
        client = Redis.from_url(settings.REDIS_URL)
        while True:
            with self._lock:
                runs = {run_key(pk): run for pk, run in self._runs.items() if not run.ended}
            if not runs:
                time.sleep(READ_MS / 1000)
                continue
            cursors: dict[Any, Any] = {key: run.cursor for key, run in runs.items()}
            found: Any = client.xread(cursors, block=READ_MS)
            now = time.monotonic()
            for key, entries in found:
                self._take(runs[key.decode()], entries, now)

    def _take(
        self, run: Watched, entries: list[tuple[bytes, dict[bytes, bytes]]], now: float
    ) -> None:
        run.cursor = entries[-1][0]
        if not run.first and any(b'"thought.delta"' in entry[b"d"] for _, entry in entries):
            run.first = now
            self.sample.first(run.asked, now)
        if any(b"end" in entry for _, entry in entries):
            if b'"status":"failed"' in entries[-1][1][b"d"]:
                failed = Run.objects.filter(status=RunStatus.FAILED).latest("pk")
                give_up(f"{failed} failed, so the figures mean nothing: {failed.message}")
            run.ended = now
            self.sample.end(run.asked, now)
            with self._lock:
                heapq.heappush(self._due, (now, run.person))

    def _count_connections(self) -> None:
        while True:
            time.sleep(0.2)
            with connection.cursor() as cursor:
                cursor.execute(
                    "select count(*) from pg_stat_activity where application_name = %s", [WORKER]
                )
                self.most_connections = max(self.most_connections, cursor.fetchone()[0])


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
