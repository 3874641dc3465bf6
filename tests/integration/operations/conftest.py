"""A database beside the tests' own, empty or of an earlier release, and commands on it."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection

from project.ops.backup import address_of
from tests.integration.operations.releases import RELEASES, Release, filled

ROOT = Path(__file__).resolve().parents[3]
Parameters = dict[str, Any]
Python = Callable[..., str]


@pytest.fixture
def parameters(transactional_db: None) -> Parameters:
    """Return how the tests' database is reached."""
    return dict(connection.get_connection_params())


@pytest.fixture
def empty(parameters: Parameters) -> Iterator[Parameters]:
    """Make an empty database beside the tests' own."""
    with _database(parameters) as made:
        yield made


@pytest.fixture
def beside(parameters: Parameters) -> Iterator[Parameters]:
    """Make another one."""
    with _database(parameters) as made:
        yield made


@contextmanager
def _database(parameters: Parameters) -> Iterator[Parameters]:
    name = f"beside_{uuid.uuid4().hex[:8]}"
    address = address_of(parameters)
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    yield parameters | {"dbname": name}
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def address() -> Callable[[Parameters], str]:
    """Write how a database is reached as a DATABASE_URL."""

    def write(parameters: Parameters) -> str:
        own = urlsplit(os.environ["DATABASE_URL"])
        folder = own.path.rpartition("/")[0]  # of the socket, where there is one
        return urlunsplit(own._replace(path=f"{folder}/{parameters['dbname']}"))

    return write


@pytest.fixture
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
def first(empty: Parameters, python: Python) -> Parameters:
    """Fill a database as the first release left it."""
    return filled(empty, python, RELEASES[1])


@pytest.fixture
def upgraded(empty: Parameters, python: Python, release: Release) -> Parameters:
    """Bring a database of an earlier release up to date."""
    python(filled(empty, python, release), "manage.py", "migrate")
    return empty
