"""Find turns: a page at a time, newest first.

Postgres guesses badly how many turns hold a word, and would read the whole table backwards for a
rare one. So the order of the query says which index to use: a query that nothing narrows looks
through the newest turns first, where a common word fills the page at once; every other one is
ordered by an expression that only the index over the words can serve. What that index has nothing
to look up for (words left out, words of every sentence) is looked for among the newest turns, so
many at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from chat.models import User
from chat.search.language.query import Query
from chat.search.limits import within
from chat.search.place import (
    Documents,
    Place,
    in_order,
    newer,
    older,
    places,
    sorted_by_place,
)
from chat.search.scope import Scope, scope

PAGE_LENGTH = 25
SECONDS = 5.0
QUICK_SECONDS = 1.0
PROBED = 2_000
WALKED = 10_000


@dataclass(frozen=True)
class FoundPage:
    """The places of one page of turns, newest first, and the cursors of the pages beside it.

    `walked` is how many turns were looked through, None when no others are left to look through.
    """

    places: Sequence[Place]
    newer: Place | None = None
    older: Place | None = None
    walked: int | None = None

    @property
    def turn_ids(self) -> list[int]:
        """Return the numbers of the turns."""
        return [place.turn_id for place in self.places]


@dataclass(frozen=True)
class FoundTurns:
    """Turns that fit, from one end; beyond `edge`, if there is one, nobody has looked."""

    places: list[Place]
    edge: Place | None = None


def find(
    user: User,
    query: Query,
    *,
    before: Place | None = None,
    after: Place | None = None,
    length: int = PAGE_LENGTH,
) -> FoundPage:
    """Return a page of the turns that the user may read and that fit.

    `before` and `after` are cursors: the page of older turns than that, or of newer ones. Raises
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


def newest(
    searched: Scope,
    query: Query,
    *,
    before: Place | None = None,
    after: Place | None = None,
    length: int,
) -> FoundTurns:
    """Return up to `length` turns: below `before` newest first, or above `after` oldest first.

    Raises TooSlow.
    """
    documents, walked = searched.documents, searched.in_order
    if before is not None:
        documents, walked = older(documents, before), older(walked, before)
    if after is not None:
        documents, walked = newer(documents, after), newer(walked, after)
    newest_first = after is None
    match = query.match()
    if match is None:
        return FoundTurns(places(in_order(documents, newest_first=newest_first)[:length]))
    if not can_be_looked_up(query):
        with within(QUICK_SECONDS, in_order=True):
            near, edge = nearest(documents, walked, WALKED, newest_first=newest_first)
            found = places(near.filter(words=match)[:length])
        return FoundTurns(found, edge if len(found) < length else None)
    if not searched.is_narrow:
        near, _ = nearest(documents, walked, PROBED, newest_first=newest_first)
        found = places(near.filter(words=match)[:length])
        if len(found) == length:
            return FoundTurns(found)
    fitting = sorted_by_place(documents.filter(words=match), newest_first=newest_first)
    return FoundTurns(places(fitting[:length]))


def can_be_looked_up(query: Query) -> bool:
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


def nearest(
    documents: Documents, walked: Documents, length: int, *, newest_first: bool = True
) -> tuple[Documents, Place | None]:
    """Keep the documents no farther than the first `length` of `walked`, in their order.

    Return too the place of the next one, None when there is none.
    """
    edges = places(in_order(walked, newest_first=newest_first)[length : length + 1])
    near = in_order(documents, newest_first=newest_first)
    if not edges:
        return near, None
    return (newer if newest_first else older)(near, edges[0]), edges[0]


def _older_page(found: FoundTurns, before: Place | None, length: int) -> FoundPage:
    turns, edge = found.places, found.edge
    return FoundPage(
        turns[:length],
        newer=turns[0] if before is not None and turns else None,
        older=turns[length - 1] if len(turns) > length else None if edge is None else edge.moved(1),
        walked=None if edge is None else WALKED,
    )


def _newer_page(found: FoundTurns, after: Place, length: int) -> FoundPage | None:
    """Return the page; None when it is not full, so that the first page shows more."""
    turns, edge = found.places, found.edge
    if len(turns) < length and edge is None:
        return None
    page = list(reversed(turns[:length]))
    older_than = page[-1] if page else after.moved(1)
    newer_than = page[0] if len(turns) > length else None if edge is None else edge.moved(-1)
    return FoundPage(
        page, newer=newer_than, older=older_than, walked=None if edge is None else WALKED
    )
