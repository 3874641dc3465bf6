"""Units of work that outlast a database, or a store of artifacts, that is away for a while."""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

from agents.control import Control
from agents.errors import AgentError, Interrupted
from chat.artifacts.store import ArtifactsAway

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

AWAY = OperationalError, InterfaceError, ArtifactsAway
"""What is raised while one of them is away."""

FIRST_WAIT = 0.1
MAX_WAIT = 3.0
GIVE_UP_SECONDS = 120.0
"""How long a worker waits for Postgres; its lease is long gone by then."""


def retrying(
    unit: Callable[[], Result],
    control: Control | None = None,
    seconds: float = GIVE_UP_SECONDS,
    in_one_statement: bool = False,
) -> Result:
    """Run `unit` in a transaction of its own and hand the connection back to the pool.

    One statement needs no transaction around it, and none of the two waits for that. While Postgres
    or the artifacts are away the unit is tried again, so it must be one that may be done twice.
    Raises Interrupted when `control` was interrupted meanwhile, and one of AWAY when they stay away
    for `seconds`; a stop or a deadline does not keep a result from being written.
    """
    started = time.monotonic()
    wait = FIRST_WAIT
    while True:
        try:
            with _trusting(), nullcontext() if in_one_statement else transaction.atomic():
                return unit()
        except AWAY as error:
            if connection.in_atomic_block or time.monotonic() - started > seconds:
                raise
            if isinstance(error, ArtifactsAway):
                logger.warning("Waiting for the artifacts: %s", error)
            else:
                logger.warning("Waiting for Postgres: %s", error)
                _throw_out_what_broke()
        finally:
            release_connection()
        _pause(wait, control)
        wait = min(2 * wait, MAX_WAIT)


def release_connection() -> None:
    """Return this thread's connection to the pool, so that no waiting run holds one."""
    if not connection.in_atomic_block:
        connection.close()


def _trusting() -> AbstractContextManager[None]:
    """Let the pool hand out unseen what was whole a moment ago: here a broken one is no harm."""
    # Only our own backend has it, which Django's types do not know.
    unchecked: Callable[[], AbstractContextManager[None]] = connection.unchecked  # type: ignore[attr-defined]
    return unchecked()


def _throw_out_what_broke() -> None:
    """Let the pool look through its idle connections, for a restart has broken all of them."""
    pool = getattr(connection, "pool", None)
    if pool is not None and not pool.closed:
        release_connection()
        pool.check()


def _pause(seconds: float, control: Control | None) -> None:
    time.sleep(seconds)
    if control is None:
        return
    try:
        control.check()
    except Interrupted:
        raise
    except AgentError:
        pass
