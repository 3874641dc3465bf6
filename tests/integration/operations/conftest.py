"""A database beside the tests' own, empty or of an earlier release, and commands on it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from tests.integration.operations.originals import Originals, database
from tests.integration.operations.releases import RELEASES, Release, filled

ROOT = Path(__file__).resolve().parents[3]
Parameters = dict[str, Any]
Python = Callable[..., str]


@pytest.fixture(scope="session")
def parameters(django_db_setup: None) -> Parameters:
    """Return how the tests' database is reached."""
    return dict(connection.get_connection_params())


@pytest.fixture(scope="session")
def originals(parameters: Parameters) -> Iterator[Originals]:
    """Keep what takes seconds to make."""
    with ExitStack() as made:
        yield Originals(parameters, made)


@pytest.fixture
def empty(parameters: Parameters) -> Iterator[Parameters]:
    """Make an empty database beside the tests' own."""
    with database(parameters) as made:
        yield made


@pytest.fixture
def beside(parameters: Parameters) -> Iterator[Parameters]:
    """Make another one."""
    with database(parameters) as made:
        yield made


@pytest.fixture(scope="session")
def address() -> Callable[[Parameters], str]:
    """Write how a database is reached as a DATABASE_URL."""

    def write(parameters: Parameters) -> str:
        own = urlsplit(os.environ["DATABASE_URL"])
        folder = own.path.rpartition("/")[0]  # of the socket, where there is one
        return urlunsplit(own._replace(path=f"{folder}/{parameters['dbname']}"))

    return write


@pytest.fixture(scope="session")
def python(address: Callable[[Parameters], str]) -> Callable[..., str]:
    """Run Python on a database and return its output: `python(empty, "manage.py", "migrate")`.

    With the exit `code` of a failure it returns what was said of it, too.
    """

    def run(parameters: Parameters, *words: str, code: int = 0) -> str:
        own = {"DATABASE_URL": address(parameters), "TURNSTONE_LOCAL_SERVERS": "none"}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr if code else done.stdout

    return run


@pytest.fixture(params=RELEASES, ids=lambda release: release.file.removesuffix(".sql"))
def release(request: pytest.FixtureRequest) -> Release:
    """Give each release that may be upgraded."""
    chosen: Release = request.param
    return chosen


@pytest.fixture
def stored(originals: Originals, python: Python, release: Release) -> Iterator[Parameters]:
    """Fill a database as a release left it."""
    with originals.copy(release.file, lambda made: filled(made, python, release)) as copy:
        yield copy


@pytest.fixture
def first(originals: Originals, python: Python) -> Iterator[Parameters]:
    """Fill a database as the first release left it."""
    release = RELEASES[1]
    with originals.copy(release.file, lambda made: filled(made, python, release)) as copy:
        yield copy


@pytest.fixture
def upgraded(originals: Originals, python: Python, release: Release) -> Iterator[Parameters]:
    """Bring a database of an earlier release up to date."""

    def upgrade(made: Parameters) -> None:
        python(filled(made, python, release), "manage.py", "migrate")

    with originals.copy(f"{release.file}, upgraded", upgrade) as copy:
        yield copy
