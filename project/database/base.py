"""Django's backend for Postgres; `ENGINE` names this package.

Django's pool looks at one idle connection after another, each time with twice the pause. After a
restart of the database all of them are broken, and a full pool would keep a page waiting in vain.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

AGAIN_SECONDS = 1.0
"""Who finds a broken connection so soon after another one does not renew the new ones once more."""
TRUSTED_SECONDS = 1.0
"""One that was looked at so lately is used as it is by those who try again when it is broken."""

LET_GO = "SET idle_in_transaction_session_timeout = '30s'"
"""A process that stands still in the middle of a transaction must not hold its locks. Said after
connecting, because PgBouncer refuses it among the options of a connection: 0.2 ms of its 6."""

Pool = ConnectionPool[psycopg.Connection[Any]]

_renewed_at: dict[str, float] = {}
_looked_at: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()
_trusts: ContextVar[bool] = ContextVar("trusts", default=False)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, but for the pool: where one idle connection is broken, all of them are renewed."""

    _connection_pools: dict[str, Pool]  # Django's own, which its stubs leave out

    @property
    def pool(self) -> Pool | None:
        """Return this process's pool, None where the settings ask for none."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            pool: Pool = ConnectionPool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,  # type: ignore[arg-type]
                check=self._check,
                **options,
            )
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]

    def _configure_connection(self, connection: psycopg.Connection[Any]) -> bool:
        """Prepare a new connection; tell whether that wants a commit."""
        super()._configure_connection(connection)  # type: ignore[misc]
        connection.execute(LET_GO)
        return True

    @staticmethod
    @contextmanager
    def unchecked() -> Iterator[None]:
        """Take connections unseen that were whole a moment ago; a busy worker would do little else.

        Only for who tries again when one of them is broken after all.
        """
        token = _trusts.set(True)
        try:
            yield
        finally:
            _trusts.reset(token)

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        """Raise for a connection that is broken, and have the others renewed that are idle."""
        now = time.monotonic()
        if _trusts.get() and now - _looked_at.get(connection, -inf) < TRUSTED_SECONDS:
            return
        try:
            ConnectionPool.check_connection(connection)
            _looked_at[connection] = now
        except psycopg.Error:
            if now - _renewed_at.get(self.alias, 0.0) > AGAIN_SECONDS:
                _renewed_at[self.alias] = now
                if self.pool is not None:
                    self.pool.drain()
            raise
