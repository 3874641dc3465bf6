"""Units of database work that outlast a database that is away for a while."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

from agents.control import Control
from agents.errors import Interrupted, OutOfTime, Stopped

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

FIRST_WAIT = 0.1
LONGEST_WAIT = 3.0
GIVE_UP_SECONDS = 120.0
"""How long a worker waits for Postgres; its lease is long gone by then."""


def patiently(unit: Callable[[], Result], control: Control | None = None) -> Result:
    """Run `unit` in a transaction of its own and hand the connection back to the pool.

    While Postgres is away the unit is tried again, so it must be one that may be done twice. Raises
    Interrupted when `control` was interrupted meanwhile, and Django's error when Postgres stays
    away; a stop or a deadline does not keep a result from being written.
    """
    started = time.monotonic()
    wait = FIRST_WAIT
    while True:
        try:
            with transaction.atomic():
                return unit()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or time.monotonic() - started > GIVE_UP_SECONDS:
                raise
            logger.warning("Waiting for Postgres: %s", error)
        finally:
            hand_back()
        _pause(wait, control)
        wait = min(2 * wait, LONGEST_WAIT)


def hand_back() -> None:
    """Return this thread's connection to the pool, so that no waiting run holds one."""
    if not connection.in_atomic_block:
        connection.close()


def _pause(seconds: float, control: Control | None) -> None:
    time.sleep(seconds)
    if control is None:
        return
    try:
        control.check()
    except Interrupted:
        raise
    except (Stopped, OutOfTime):
        pass
