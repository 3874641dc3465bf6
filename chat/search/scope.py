"""Which turns a person may search, narrowed by the fields of a query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from django.db.models import Q, QuerySet

from chat.governance import door
from chat.models import (
    ENDED,
    LIVE,
    Policy,
    PolicyVersion,
    Run,
    RunStatus,
    SearchDocument,
    Turn,
    User,
)
from chat.search.query import FieldClause, Query, QueryError

MAX_NAMES = 12

STATUS_NAMES = {
    status.value: status.label if status in ENDED else status.value for status in RunStatus
}
"""What a status is called in a query: the page's own word where that is one."""

Documents = QuerySet[SearchDocument]


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


def scope(user: User, query: Query, *, only_own: bool = False) -> Scope:
    """Return what the query's fields leave of what the user may read, or of their own turns.

    Raises QueryError for a value that there is not.
    """
    is_all = door.reads_all(user) and not only_own
    readable = door.readable_documents(user) if is_all else door.own_documents(user)
    documents = readable
    wanted: dict[str, Q] = {}
    for name, condition in _CONDITIONS.items():
        clauses = [clause for clause in query.fields if clause.name == name]
        for clause in clauses:
            if clause.is_negative:
                documents = documents.filter(~condition(user, clause))
            else:
                wanted[name] = wanted.get(name, Q()) | condition(user, clause)
    for one in wanted.values():
        documents = documents.filter(one)
    ordered_by = [name for name in (_IN_ORDER if is_all else ("run",)) if name in wanted]
    return Scope(
        documents,
        in_order=readable.filter(wanted[ordered_by[0]]) if ordered_by else readable,
        is_narrow=any(clause.name != "user" for clause in query.fields),
    )


def _policy(_: User, clause: FieldClause) -> Q:
    names = list(Policy.objects.order_by("slug").values_list("slug", flat=True))
    if clause.value.lower() not in names:
        raise _unknown(clause, "policy", "The policies are", names)
    return Q(policy=clause.value.lower())


def _tool(user: User, clause: FieldClause) -> Q:
    if not door.readable_documents(user).filter(tool=clause.value).exists():
        offered = PolicyVersion.objects.values_list("content__tools", flat=True)
        names = sorted({name for tools in offered for name in tools or ()})
        if clause.value not in names:
            raise _unknown(clause, "tool", "The tools are", names)
    return Q(tool=clause.value)


def _status(_: User, clause: FieldClause) -> Q:
    """Match the run's status; while a run is live only the run itself knows it."""
    value = clause.value.lower()
    by_name = {name: status for status, name in STATUS_NAMES.items()}
    status = by_name.get(value, value)
    if status not in RunStatus.values:
        raise _unknown(clause, "status", "A run is", list(by_name))
    if status in LIVE:
        return Q(turn__in=Turn.objects.filter(run__in=Run.objects.live().filter(status=status)))
    return Q(status=status)


def _user(user: User, clause: FieldClause) -> Q:
    if clause.value == user.get_username():
        return door.documents_of(user.pk)
    if not door.reads_all(user):
        raise QueryError(f"{clause.text}: you can search your own turns only.")
    found = User.objects.filter(username=clause.value).first()
    if found is None:
        names = User.objects.order_by("username").values_list("username", flat=True)
        raise _unknown(clause, "user", "There are", list(names[: MAX_NAMES + 1]))
    return door.documents_of(found.pk)


def _run(_: User, clause: FieldClause) -> Q:
    if not (clause.value.isascii() and clause.value.isdigit() and len(clause.value) < 19):
        raise QueryError(f"{clause.text}: a run is named by its number, as in run:12.")
    return Q(turn__in=Turn.objects.filter(run=int(clause.value)))


def _unknown(clause: FieldClause, noun: str, lead: str, names: Sequence[str]) -> QueryError:
    listed = ", ".join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")
    there_is = f"{lead}: {listed}." if names else f"There is no {noun} yet."
    return QueryError(f"{clause.text}: there is no {noun} {clause.value!r}. {there_is}")


_IN_ORDER = ("run", "user", "tool")
"""Fields with an index that has their turns in order; of two, the first has fewer."""

_CONDITIONS: dict[str, Callable[[User, FieldClause], Q]] = {
    "policy": _policy,
    "tool": _tool,
    "user": _user,
    "status": _status,
    "run": _run,
}
