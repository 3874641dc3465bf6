"""Find turns: a page at a time, newest first, with how many there are.

Postgres guesses badly how many turns hold a word, and would read the whole table backwards for a
rare one. So the order of the query says which index to use: a query that nothing narrows looks
through the newest turns first, where a common word fills the page at once; every other one is
ordered by an expression that only the index over the words can serve. What that index has nothing
to look up for (words left out, words of every sentence) is looked for among the newest turns, so
many at a time.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import F

from chat.models import User
from chat.search.limits import TooSlow, within
from chat.search.query import Query
from chat.search.scope import Documents, Scope, scope

PAGE_LENGTH = 25
SECONDS = 5.0
QUICK_SECONDS = 1.0
MAX_COUNTED = 10_000
PROBED = 2_000
WALKED = 10_000


@dataclass(frozen=True)
class FoundPage:
    """The ids of one page of turns, newest first, and the cursors of the pages beside it.

    `walked` is how many turns were looked through, None when no others are left to look through.
    """

    turn_ids: Sequence[int]
    newer: int | None = None
    older: int | None = None
    walked: int | None = None


@dataclass(frozen=True)
class Tally:
    """How many turns fit and how they divide; `is_all` tells whether all of them were counted.

    `counts` maps a field to its values with their counts, most first.
    """

    total: int
    is_all: bool
    counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundTurns:
    """Turns that fit, from one end; beyond `edge`, if there is one, nobody has looked."""

    turn_ids: list[int]
    edge: int | None = None


def find(
    user: User,
    query: Query,
    *,
    before: int | None = None,
    after: int | None = None,
    length: int = PAGE_LENGTH,
) -> FoundPage:
    """Return a page of the turns that the user may read and that fit.

    `before` and `after` are turn ids: the page of older turns than that, or of newer ones. Raises
    QueryError, or TooSlow when Postgres needs more than SECONDS.
    """
    with within(SECONDS):
        searched = scope(user, query)
        if after is not None:
            found = newest(searched, query, after=after, length=length + 1)
            page = _newer_page(found, after, length)
            if page is not None:
                return page
            before = None
        found = newest(searched, query, before=before, length=length + 1)
        return _older_page(found, before, length)


def tally(user: User, query: Query) -> Tally | None:
    """Count the turns that fit, in all and by field; None when that takes too long.

    Counting stops at MAX_COUNTED, or where `find` stops to look.
    """
    searched = scope(user, query)
    documents, edge = searched.documents, None
    match = query.match()
    try:
        is_walk = match is not None and not _can_be_looked_up(query)
        with within(QUICK_SECONDS, in_order=is_walk):
            if is_walk:
                documents, edge = _near(searched.documents, searched.in_order, "-", WALKED)
            if match is not None:
                documents = documents.filter(words=match)
            rows = list(documents.values_list("policy", "tool", "status")[: MAX_COUNTED + 1])
    except TooSlow:
        return None
    columns = zip(("policy", "tool", "status"), zip(*rows, strict=True), strict=False)
    return Tally(
        total=min(len(rows), MAX_COUNTED),
        is_all=len(rows) <= MAX_COUNTED and edge is None,
        counts={
            name: [(value, count) for value, count in Counter(column).most_common() if value]
            for name, column in columns
        },
    )


def newest(
    searched: Scope,
    query: Query,
    *,
    before: int | None = None,
    after: int | None = None,
    length: int,
) -> FoundTurns:
    """Return up to `length` turns: below `before` newest first, or above `after` oldest first.

    Raises TooSlow.
    """
    beyond: dict[str, int] = {}
    if before is not None:
        beyond["turn_id__lt"] = before
    if after is not None:
        beyond["turn_id__gt"] = after
    sign = "" if after is not None else "-"
    documents, in_order = searched.documents.filter(**beyond), searched.in_order.filter(**beyond)
    match = query.match()
    if match is None:
        return FoundTurns(_ids(documents.order_by(f"{sign}turn_id")[:length]))
    if not _can_be_looked_up(query):
        with within(QUICK_SECONDS, in_order=True):
            near, edge = _near(documents, in_order, sign, WALKED)
            ids = _ids(near.filter(words=match)[:length])
        return FoundTurns(ids, edge if len(ids) < length else None)
    if not searched.is_narrow:
        near, _ = _near(documents, documents, sign, PROBED)
        ids = _ids(near.filter(words=match)[:length])
        if len(ids) == length:
            return FoundTurns(ids)
    by_number = F("turn_id") + 0
    order = by_number.asc() if after is not None else by_number.desc()
    return FoundTurns(_ids(documents.filter(words=match).order_by(order)[:length]))


def _older_page(found: FoundTurns, before: int | None, length: int) -> FoundPage:
    ids, edge = found.turn_ids, found.edge
    return FoundPage(
        ids[:length],
        newer=ids[0] if before is not None and ids else None,
        older=ids[length - 1] if len(ids) > length else None if edge is None else edge + 1,
        walked=None if edge is None else WALKED,
    )


def _newer_page(found: FoundTurns, after: int, length: int) -> FoundPage | None:
    """Return the page; None when it is not full, so that the first page shows more."""
    ids, edge = found.turn_ids, found.edge
    if len(ids) < length and edge is None:
        return None
    page = list(reversed(ids[:length]))
    older = page[-1] if page else after + 1
    newer = page[0] if len(ids) > length else None if edge is None else edge - 1
    return FoundPage(page, newer=newer, older=older, walked=None if edge is None else WALKED)


def _can_be_looked_up(query: Query) -> bool:
    """Tell whether a turn has to hold a word that is not, as `the` is, in almost every turn."""
    wanted = [word for term in query.wanted for word in term.words]
    if not wanted:
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_or(ts_lexize('english_stem', word) <> '{}') FROM unnest(%s::text[]) word",
            [wanted],
        )
        return bool(cursor.fetchone()[0])


def _near(
    documents: Documents, in_order: Documents, sign: str, length: int
) -> tuple[Documents, int | None]:
    """Keep the documents no farther than the first `length` of `in_order`, in their order.

    Return too the number of the next one, None when there is none.
    """
    ordered = in_order.order_by(f"{sign}turn_id")
    edge = ordered.values_list("turn_id", flat=True)[length : length + 1].first()
    near = documents.order_by(f"{sign}turn_id")
    if edge is None:
        return near, None
    return near.filter(**{"turn_id__gt" if sign else "turn_id__lt": edge}), edge


def _ids(documents: Documents) -> list[int]:
    return list(documents.values_list("turn_id", flat=True))
