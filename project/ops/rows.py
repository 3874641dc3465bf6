"""Keep what stands in rows out of the log, where the database's own words would show it."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
from django.db.utils import Error

_QUOTED = re.compile(r': ".*')
_HEAD, _TAIL = 60, 120
"""Lines of a traceback that are kept where it is longer."""


def without_rows(text: str, errors: Iterator[BaseException]) -> str:
    """Return a logged text with each database error told by its first line, without values.

    The others are a failing row, a key, a statement or a piece of a document.
    """
    for error in errors:
        whole = str(error)
        text = text.replace(whole, _QUOTED.sub("", whole.partition("\n")[0]))
    return text


def shortened(traceback: str) -> str:
    """Return a traceback with its middle left out, where it goes on and on."""
    lines = traceback.split("\n")
    if len(lines) <= _HEAD + _TAIL:
        return traceback
    left_out = f"  [{len(lines) - _HEAD - _TAIL:,} lines are left out here]"
    return "\n".join([*lines[:_HEAD], left_out, *lines[-_TAIL:]])


def database_errors(*found: Any) -> Iterator[BaseException]:
    """Yield the database's errors among these values, and among what the others came of."""
    waiting, seen = list(found), set[int]()
    while waiting:
        error = waiting.pop()
        if not isinstance(error, BaseException) or id(error) in seen:
            continue
        seen.add(id(error))
        waiting += [error.__cause__, error.__context__]
        waiting += error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        if isinstance(error, Error | psycopg.Error) and str(error):
            yield error
