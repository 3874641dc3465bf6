"""What one search may take: its time, and how many of a person's searches are under way at once."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import OperationalError, connection, transaction

from chat.models import User

MAX_AT_ONCE = 2


class TooSlow(Exception):
    """Raised when a search was given up because a statement took longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"given up after {seconds:.0f} second{'' if seconds == 1 else 's'}")


class TooMany(Exception):
    """Raised when MAX_AT_ONCE searches of the person are under way; the text is for them."""

    def __init__(self) -> None:
        super().__init__("Two of your searches are still under way. Try again in a moment.")


@contextmanager
def one_of_few(user: User, purpose: str) -> Iterator[None]:
    """Hold one of the person's places for searches of this purpose; raises TooMany.

    A place is a lock of the transaction: whatever becomes of the process, it ends with it.
    """
    with transaction.atomic():
        if not any(_is_free(f"{purpose} {user.pk} {n}") for n in range(MAX_AT_ONCE)):
            raise TooMany
        yield


@contextmanager
def within(seconds: float, *, in_order: bool = False) -> Iterator[None]:
    """Bound each statement, and keep Postgres from reading whole tables to save an index.

    With `in_order` it reads turns by their number and asks no index over words, which has nothing
    to look up for words that are left out, and walks its whole length where no limit ends it.
    Nothing that is written meanwhile is kept. Raises TooSlow when a statement is given up.
    """
    settings = {
        "statement_timeout": f"{round(seconds * 1000)}ms",
        "enable_seqscan": "off",
        "enable_bitmapscan": "off" if in_order else "on",
        "jit": "off",
    }
    calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                values = [part for setting in settings.items() for part in setting]
                cursor.execute(f"SELECT {calls}", values)
            yield
            transaction.set_rollback(True)  # what was set ends here; there is nothing to keep
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
            raise TooSlow(seconds) from error
        raise


def _is_free(place: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [place])
        return bool(cursor.fetchone()[0])
