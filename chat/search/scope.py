"""Which turns a person may search, narrowed by the fields of a query."""

from dataclasses import dataclass, replace
from typing import Self

from django.db.models import Q

from chat.governance import door
from chat.models import User
from chat.search.language.fields import FIELDS, PARTS
from chat.search.language.query import Query
from chat.search.place import Documents

_ALIKE = frozenset(("question", "answer"))
"""The parts whose words weigh the same in a turn, and each its own in the run's document."""


@dataclass(frozen=True)
class Scope:
    """The documents to search, without the words.

    `is_narrow` says that a field other than the owner narrows them, so that the newest of all tell
    little about the newest that fit. `in_order` holds them and others: what an index gives in the
    order of turns without any further condition.
    """

    documents: Documents
    in_order: Documents
    is_narrow: bool

    def without(self, condition: Q) -> Self:
        """Leave out the documents that meet the condition."""
        return replace(self, documents=self.documents.filter(~condition))


def scope(user: User, query: Query, *, only_in: int | None = None) -> Scope:
    """Return what the query's fields leave of what the user may read, or of one space.

    Raises QueryError for a value that there is not.
    """
    is_all = door.reads_all(user) and only_in is None
    readable = door.readable_documents(user)
    if only_in is not None:
        readable = door.space_documents(only_in)
    documents = readable
    wanted: dict[str, Q] = {}
    for clause in sorted(query.fields, key=lambda clause: list(FIELDS).index(clause.name)):
        condition = FIELDS[clause.name].condition(user, clause)
        if clause.is_negative:
            documents = documents.filter(~condition)
        else:
            wanted[clause.name] = wanted.get(clause.name, Q()) | condition
    for one in wanted.values():
        documents = documents.filter(one)
    ordered_by = [name for name in wanted if FIELDS[name].is_in_order and (is_all or name == "run")]
    return Scope(
        documents.filter(_apart(query)),
        in_order=readable.filter(wanted[ordered_by[0]]) if ordered_by else readable,
        is_narrow=any(FIELDS[clause.name].is_narrow for clause in query.fields),
    )


def _apart(query: Query) -> Q:
    """Tell a question and an answer apart, where one is looked in and the other is not.

    The question is said in a run's first turn alone; so only where that has an answer, too, must
    the run's own document be asked.
    """
    alike = _ALIKE & set(query.parts)
    if len(alike) != 1:
        return Q()
    others = "".join(sorted({PARTS[part] for part in query.parts} - {"A"}))
    if alike == {"question"}:
        said = Q(turn__index=0)
        if not others:
            said &= Q(run_document__words=query.match("A"))
    else:
        said = Q(turn__index__gt=0)
        if not others:
            said |= Q(run_document__words=query.match("B"))
    return said | Q(words=query.match(others)) if others else said
