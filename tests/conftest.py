"""Real services for every test that needs them.

`DATABASE_URL` and `REDIS_URL` name the servers, `TURNSTONE_ARTIFACTS` a folder; where one is not
given, pytest runs itself again beside throw-away ones. `TURNSTONE_POSTGRES` may name the folder of
Postgres' programs for that.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from project.local.throwaway import throwaway

GIVEN = ("DATABASE_URL", "REDIS_URL", "TURNSTONE_ARTIFACTS")
ORDER = ("unit", "integration", "e2e", "chaos")
"""The browser's worker comes late, so that it takes no other test's work from the queue."""
PROCESSES = frozenset(("worker", "begun", "start_worker", "python", "web"))
"""The fixtures that start processes."""

# No test asserts a time. CI tries the same examples each time, at home new ones are tried.
hypothesis.settings.register_profile("home", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "home")

# One round instead of a million: half the suite's time went into the passwords of people who never
# sign in by one. The hash names its rounds, so the real web process reads it like any other.
PBKDF2PasswordHasher.iterations = 1
settings.WHITENOISE_AUTOREFRESH = True  # or each test client would first look at every static file

MARKER = "turnstone:tests"
PATIENCE = "60s"
"""How long a test looks for no circle in which it waits; whoever else is in it finds it first."""
QUEUE_BINDINGS = b"_kombu.binding"


@receiver(connection_created)
def _give_way_last(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Have a process that is looked at give way where it waits in a circle with a test.

    Between two tests all tables are emptied, in an order of their own, while web processes and
    workers may read several. These ask again; a test that gave way would have failed.
    """
    # Not by a cursor of Django's: some tests count the queries.
    connection.connection.execute(f"SET deadlock_timeout = '{PATIENCE}'")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run the same command beside throw-away servers where none are given."""
    if all(map(os.environ.get, GIVEN)):
        return None
    binaries = os.environ.get("TURNSTONE_POSTGRES")
    with throwaway(Path(binaries) if binaries else None) as environment:
        return subprocess.call(
            [sys.executable, "-m", "pytest", *config.invocation_params.args],
            cwd=config.invocation_params.dir,
            env=os.environ | environment,
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests by their folder, and sort the folders."""
    for item in items:
        if _kind(item) in ("integration", "e2e"):
            item.add_marker(pytest.mark.services)
        if _kind(item) == "e2e":
            item.add_marker(pytest.mark.browser)
        if not PROCESSES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.processes)
    items.sort(key=lambda item: ORDER.index(_kind(item)) if _kind(item) in ORDER else -1)


def _kind(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).parts[0]


@pytest.fixture(scope="session")
def valkey_server() -> Iterator["redis.Redis"]:
    """Connect to the tests' own Redis database, after making sure that it is only theirs."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=10)
    if client.dbsize() and not client.exists(MARKER):
        pytest.exit(
            "REDIS_URL holds something that the tests would delete: give them an empty one."
        )
    client.set(MARKER, "this database is emptied by tests")
    yield client
    client.close()


@pytest.fixture
def valkey(valkey_server: "redis.Redis") -> "redis.Redis":
    """Give an empty Redis database; what binds a running worker to its queue stays."""
    from chat.stream.deferred import deferred  # whose client needs the settings

    deferred().flush(10)
    for key in valkey_server.scan_iter(count=1000):
        if key != MARKER.encode() and not key.startswith(QUEUE_BINDINGS):
            valkey_server.delete(key)
    return valkey_server


@pytest.fixture(autouse=True)
def _empty_redis(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("services"):
        request.getfixturevalue("valkey")


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Wait until something is seen: `wait_for(lambda: run.ended, "the run's end")`."""
    return _wait_for


def _wait_for(is_seen: Callable[[], object], what: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not is_seen():
        assert time.monotonic() < deadline, f"Waited {seconds:.0f} s in vain for {what}."
        time.sleep(0.02)
