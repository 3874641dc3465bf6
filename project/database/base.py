"""Django's backend for Postgres; `ENGINE` names this package.

Django's pool looks at one idle connection after another, each time with twice the pause. After a
restart of the database all of them are broken, and a full pool would keep a page waiting in vain.
And it has each statement planned anew, which is half of what Postgres does for a short one.
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
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.backends.utils import CursorWrapper
from psycopg_pool import ConnectionPool

AGAIN_SECONDS = 1.0
"""Who finds a broken connection so soon after another one does not renew the new ones once more."""
TRUSTED_SECONDS = 1.0
"""One that was looked at so lately is used as it is by those who try again when it is broken."""

LET_GO = "SET idle_in_transaction_session_timeout = '30s'"
"""A process that stands still in the middle of a transaction must not hold its locks. Said after
connecting, because PgBouncer refuses it among the options of a connection: 0.2 ms of its 6."""

PLANS = 32
"""How many statements a connection keeps planned, each in some 270 kB of Postgres' memory."""

Pool = ConnectionPool[psycopg.Connection[Any]]

_renewed_at: dict[str, float] = {}
_looked_at: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()
_trusts: ContextVar[bool] = ContextVar("trusts", default=False)


class _Operations(DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> str:
        """Return what was executed; of a statement that is kept planned psycopg knows no text."""
        return super().last_executed_query(cursor, sql, params) or str(sql)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, but for statements that are kept planned, and for the pool.

    Where one idle connection of the pool is broken, all of them are renewed.
    """

    ops_class = _Operations
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
        if not self.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
            connection.prepare_threshold, connection.prepared_max = 0, PLANS
        return True

    def prepared_cursor(self) -> CursorWrapper:
        """Return a cursor whose statements Postgres plans once for each connection.

        Where a pooler takes the connection away after each transaction, it plans them each time.
        """
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor = base.ServerBindingCursor(self.connection)  # type: ignore[call-arg]
            wrapped: CursorWrapper = self._prepare_cursor(cursor)  # type: ignore[attr-defined]
            return wrapped

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
