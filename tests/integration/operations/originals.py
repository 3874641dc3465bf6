"""Databases beside the tests' own; those that take seconds to make are made once and copied."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import psycopg

from project.ops.backup import address_of

Parameters = dict[str, Any]
Database = AbstractContextManager[Parameters]


class Originals:
    """Databases that are made once; each test that wants one gets a copy of its own."""

    def __init__(self, parameters: Parameters, made: ExitStack) -> None:
        self._parameters = parameters
        self._made = made
        self._names: dict[str, str] = {}

    def copy(self, of: str, make: Callable[[Parameters], object]) -> Database:
        """Copy the database of a name; `make` fills the empty one that it is before its first."""
        if of not in self._names:
            original = self._made.enter_context(database(self._parameters))
            make(original)
            self._names[of] = original["dbname"]
        return database(self._parameters, template=self._names[of])


@contextmanager
def database(parameters: Parameters, template: str = "template0") -> Iterator[Parameters]:
    """Make a database beside the tests' own for the length of a block."""
    name = f"beside_{uuid.uuid4().hex[:8]}"
    address = address_of(parameters)
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    yield parameters | {"dbname": name}
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
