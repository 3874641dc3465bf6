"""Count the turns that fit a query, in all and by what their runs and tools are."""

from dataclasses import dataclass, field

from django.core.exceptions import EmptyResultSet
from django.db import connection

from chat.models import User
from chat.search.find import QUICK_SECONDS, WALKED, can_be_looked_up, nearest
from chat.search.language.query import Query
from chat.search.limits import TooSlow, within
from chat.search.place import Documents
from chat.search.scope import scope

MAX_COUNTED = 10_000

# Postgres would read all runs to join some thousands; an array of them it looks up one by one.
_COUNTED = """
WITH fitting (run_id, tool) AS MATERIALIZED ({fitting}),
of_run AS MATERIALIZED (SELECT run_id, count(*) AS turns FROM fitting GROUP BY run_id),
run AS MATERIALIZED (
  SELECT run_id, policy, status FROM chat_rundocument
  WHERE run_id = ANY (ARRAY(SELECT run_id FROM of_run))
),
counted AS MATERIALIZED (
  SELECT policy, status, sum(turns) AS turns FROM of_run LEFT JOIN run USING (run_id)
  GROUP BY policy, status
)
SELECT 'policy', policy, sum(turns) FROM counted GROUP BY policy
UNION ALL SELECT 'tool', tool, count(*) FROM fitting GROUP BY tool
UNION ALL SELECT 'status', status, sum(turns) FROM counted GROUP BY status
"""
FACETS = ("policy", "tool", "status")


@dataclass(frozen=True)
class Tally:
    """How many turns fit and how they divide; `is_all` tells whether all of them were counted.

    `counts` maps a field to its values with their counts, most first.
    """

    total: int
    is_all: bool
    counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


def tally(user: User, query: Query) -> Tally | None:
    """Count the turns that fit, in all and by field; None when that takes too long.

    Counting stops at MAX_COUNTED, or where `find` stops to look.
    """
    searched = scope(user, query)
    documents, edge = searched.documents, None
    match = query.match()
    try:
        is_walk = match is not None and not can_be_looked_up(query)
        with within(QUICK_SECONDS, in_order=is_walk):
            if is_walk:
                documents, edge = nearest(documents, searched.in_order, WALKED)
            if match is not None:
                documents = documents.filter(words=match)
            rows = _counted(documents)
    except TooSlow:
        return None
    total = sum(count for name, _, count in rows if name == "tool")
    by_count = sorted(rows, key=lambda row: (-row[2], row[1] or ""))
    return Tally(
        total=min(total, MAX_COUNTED),
        is_all=total <= MAX_COUNTED and edge is None,
        counts={
            facet: [(value, count) for name, value, count in by_count if name == facet and value]
            for facet in FACETS
        },
    )


def _counted(documents: Documents) -> list[tuple[str, str | None, int]]:
    fitting = documents.values("run_document_id", "tool")[: MAX_COUNTED + 1]
    try:
        sql, values = fitting.query.sql_with_params()
    except EmptyResultSet:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED.format(fitting=sql), values)
        return [(name, value, int(count)) for name, value, count in cursor.fetchall()]
