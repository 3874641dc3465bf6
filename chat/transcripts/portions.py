"""Long records a portion at a time: read without keeping a connection, sent without waiting.

A download may last, so between two portions nothing is held: no cursor, no connection, no thread.
The server below keeps whatever a slow page has not taken yet, so nothing is written out that is
longer than what is stored.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import transaction
from django.db.models import Model, QuerySet

from chat.runs.db_retry import release_connection

logger = logging.getLogger(__name__)

PORTION = 250_000
"""Characters, about; a row that is longer than that is a portion of its own."""

Row = TypeVar("Row", bound=Model)


def in_portions(rows: "QuerySet[Row]", by: str = "index") -> Iterator[list[Row]]:
    """Yield all rows of a run in the order of a unique field, as many at once as are short."""
    rows = following = rows.order_by(by)
    while portion := _portion(following):
        yield portion
        following = rows.filter(**{f"{by}__gt": getattr(portion[-1], by)})


async def carried(texts: Iterator[str], if_broken: str) -> AsyncIterator[bytes]:
    """Yield the text for a response, made in the thread of its request while others are served.

    What fails on the way can be told no more by a status: `if_broken` then ends the text.
    """
    while True:
        try:
            text = await sync_to_async(_gather)(texts)
        except Exception:
            logger.exception("A download failed")
            yield if_broken.encode()
            return
        if not text:
            return
        yield text.encode()


def _gather(texts: Iterator[str]) -> str:
    """Return the next texts, one portion or a little more; empty at the end."""
    found, length = [], 0
    try:
        for text in texts:
            found.append(text)
            length += len(text)
            if length >= PORTION:
                break
        return "".join(found)
    finally:
        release_connection()


def _length(row: Model) -> int:
    """Return about how many characters a row holds, with the rows that were read with it."""
    own = sum(len(str(value)) for name, value in vars(row).items() if not name.startswith("_"))
    others = getattr(row, "_prefetched_objects_cache", {}).values()
    return own + sum(_length(other) for rows in others for other in rows)


def _portion(rows: "QuerySet[Row]") -> list[Row]:
    found, length = [], 0
    # Inside a transaction the cursor fetches row by row; outside, Postgres would copy all of them.
    with transaction.atomic():
        for row in rows.iterator(chunk_size=1):
            found.append(row)
            length += _length(row)
            if length >= PORTION:
                break
    return found
