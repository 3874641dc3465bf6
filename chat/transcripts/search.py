"""Find turns: a page at a time for the people who read, the best ones for the agent's tool.

Postgres guesses badly how many turns hold a word, and would read the whole table backwards for a
rare one. So the order of the query says which index to use: a query that nothing narrows looks
through the newest turns first, where a common word fills the page at once; every other one is
ordered by an expression that only the index over the words can serve.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import psycopg
from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import OperationalError, connection, transaction
from django.db.models import F

from agents.errors import ToolFailed
from agents.tools.search_transcripts import FindTurns, FoundTurn
from chat.models import Run, User
from chat.transcripts.hits import Hit, hits
from chat.transcripts.query import Match, Query, QueryError, parse, plain
from chat.transcripts.scope import Documents, Scope, own, scope

PAGE_LENGTH = 25
SECONDS = 5.0
COUNT_SECONDS = 1.0
MOST_COUNTED = 10_000
PROBED = 2_000

TOOL_LENGTH = 10
MOST_RANKED = 500
ANSWER_LENGTH = 160


class TooSlow(Exception):
    """Raised when a search was given up because it took too long."""


@dataclass(frozen=True)
class Page:
    """The ids of one page of turns, newest first, and the cursors of the pages beside it."""

    turn_ids: Sequence[int]
    newer: int | None = None
    older: int | None = None


@dataclass(frozen=True)
class Tally:
    """How many turns fit and how they divide; counting stops at MOST_COUNTED, and `is_all` tells.

    `counts` maps a field to its values with their counts, most first.
    """

    total: int
    is_all: bool
    counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


def find(
    user: User,
    query: Query,
    *,
    before: int | None = None,
    after: int | None = None,
    length: int = PAGE_LENGTH,
) -> Page:
    """Return a page of the turns that the user may read and that fit.

    `before` and `after` are turn ids: the page of older turns than that, or of newer ones. Raises
    QueryError, or TooSlow when Postgres needs more than SECONDS.
    """
    with within(SECONDS):
        found = scope(user, query)
        if after is not None:
            newer = _newest(found, query, after=after, length=length + 1)
            if len(newer) >= length:
                page = list(reversed(newer[:length]))
                return Page(page, newer=page[0] if len(newer) > length else None, older=page[-1])
            before = None
        ids = _newest(found, query, before=before, length=length + 1)
        return Page(
            ids[:length],
            newer=ids[0] if before is not None and ids else None,
            older=ids[length - 1] if len(ids) > length else None,
        )


def tally(user: User, query: Query) -> Tally | None:
    """Count the turns that fit, in all and by field; None when that takes too long."""
    documents = scope(user, query).documents
    match = query.match()
    if match is not None:
        documents = documents.filter(words=match)
    try:
        with within(COUNT_SECONDS):
            rows = list(documents.values_list("policy", "tool", "status")[: MOST_COUNTED + 1])
    except TooSlow:
        return None
    columns = zip(("policy", "tool", "status"), zip(*rows, strict=True), strict=False)
    return Tally(
        total=min(len(rows), MOST_COUNTED),
        is_all=len(rows) <= MOST_COUNTED,
        counts={
            name: [(value, count) for value, count in Counter(column).most_common() if value]
            for name, column in columns
        },
    )


def find_turns(user: User, *, excluding: Run | None = None) -> FindTurns:
    """Return the search over the user's own turns, but for those of the run that asks.

    Turns that hold every word come newest first; when there are none, those that hold most of the
    words. Models write sentences: a query that is none in search's language counts as bare words.
    """

    def find(text: str) -> list[FoundTurn]:
        try:
            with within(SECONDS):
                query, documents = _understood(user, text)
                documents = documents.exclude(tool="search_transcripts")
                if excluding is not None:
                    documents = documents.exclude(run_id=excluding.pk)
                return [_found(hit) for hit in hits(_best(documents, query), query)]
        except TooSlow as error:
            raise ToolFailed("The search took too long; use rarer words.") from error
        finally:
            # The tool's thread ends with the call, and must not take a pooled connection with it.
            if not connection.in_atomic_block:
                connection.close()

    return find


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Bound each statement, and keep Postgres from reading whole tables to save an index.

    Raises TooSlow when a statement is given up.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true),"
                    " set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)",
                    [f"{round(seconds * 1000)}ms"],
                )
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
            raise TooSlow from error
        raise


def _newest(
    found: Scope,
    query: Query,
    *,
    before: int | None = None,
    after: int | None = None,
    length: int,
) -> list[int]:
    """Return up to `length` ids: below `before` newest first, or above `after` oldest first."""
    documents = found.documents
    if before is not None:
        documents = documents.filter(turn_id__lt=before)
    if after is not None:
        documents = documents.filter(turn_id__gt=after)
    sign = "" if after is not None else "-"
    match = query.match()
    if match is None or not query.wanted:
        fitting = documents if match is None else documents.filter(words=match)
        return _ids(fitting.order_by(f"{sign}turn_id")[:length])
    if not found.is_narrow:
        near = _ids(_nearest(documents, sign).filter(words=match)[:length])
        if len(near) == length:
            return near
    by_number = F("turn_id") + 0
    order = by_number.asc() if after is not None else by_number.desc()
    return _ids(documents.filter(words=match).order_by(order)[:length])


def _nearest(documents: Documents, sign: str) -> Documents:
    """Keep the PROBED documents that come first, in their order."""
    ordered = documents.order_by(f"{sign}turn_id")
    edge = ordered.values_list("turn_id", flat=True)[PROBED : PROBED + 1].first()
    if edge is None:
        return ordered
    return ordered.filter(**{"turn_id__gt" if sign else "turn_id__lt": edge})


def _ids(documents: Documents) -> list[int]:
    return list(documents.values_list("turn_id", flat=True))


def _understood(user: User, text: str) -> tuple[Query, Documents]:
    try:
        query = parse(text)
        return query, scope(user, query, only_own=True).documents
    except QueryError:
        return plain(text), own(user)


def _best(documents: Documents, query: Query) -> list[int]:
    match = query.match()
    if match is not None:
        newest = documents.filter(words=match).order_by((F("turn_id") + 0).desc())
        all_words = list(newest.values_list("turn_id", flat=True)[:TOOL_LENGTH])
        return all_words or _most_words(documents, query)
    if not query.fields:
        return []
    return list(documents.order_by("-turn_id").values_list("turn_id", flat=True)[:TOOL_LENGTH])


def _most_words(documents: Documents, query: Query) -> list[int]:
    """Rank the newest turns that hold any of the words; such as `the` do not count."""
    asked: list[Match] = [
        SearchQuery(" ".join(term.words), config="english") for term in query.wanted
    ]
    if not asked:
        return []
    any_word = reduce(or_, asked)
    newest = documents.filter(words=any_word).order_by((F("turn_id") + 0).desc())
    ranked = (
        documents.filter(turn_id__in=newest.values("turn_id")[:MOST_RANKED])
        .annotate(rank=SearchRank(F("words"), any_word))
        .order_by("-rank", "-turn_id")
    )
    return list(ranked.values_list("turn_id", flat=True)[:TOOL_LENGTH])


def _found(hit: Hit) -> FoundTurn:
    turn = hit.turn
    answer = " ".join(hit.answer.split())[:ANSWER_LENGTH]
    shown = str(hit.excerpt)
    return FoundTurn(
        run=turn.run_id,
        turn=turn.number,
        question=" ".join(hit.question.split()),
        text=f"{shown} Answer: {answer}" if answer and hit.excerpt.part != "answer" else shown,
        when=turn.started_at,
    )
