"""The fields of the query language, one entry of one table each: FIELDS.

The parser knows a field by its name, the page and docs/search.md tell of it in the words here, and
what it narrows a search to is its condition.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from chat.governance import door
from chat.models import ENDED, LIVE, Origin, Policy, PolicyVersion, Run, RunStatus, Turn, User

MAX_NAMES = 12

STATUS_NAMES = {
    status.value: status.label if status in ENDED else status.value for status in RunStatus
}
"""What a status is called in a query: the page's own word where that is one."""

PARTS = {"question": "A", "answer": "A", "thought": "B", "action": "C", "observation": "D"}
"""The parts of a turn that words can be looked for in, and what the words of each weigh."""


class QueryError(Exception):
    """Raised for a query that cannot be searched for; the message is for the one who wrote it."""


@dataclass(frozen=True)
class FieldClause:
    """A field that has to have, or must not have, a value."""

    text: str
    is_negative: bool
    name: str
    value: str


@dataclass(frozen=True)
class SearchField:
    """A field: an `example` as it is written, and what that `finds`, for people.

    `condition` says which documents have the value of a clause, and raises QueryError for one that
    there is not. `is_narrow` tells that the newest of all turns say little about which fit;
    `is_in_order` that an index has the turns with a value in order.
    """

    name: str
    example: str
    finds: str
    condition: Callable[[User, FieldClause], Q]
    is_narrow: bool = True
    is_in_order: bool = False


def _policy(_: User, clause: FieldClause) -> Q:
    names = list(Policy.objects.order_by("slug").values_list("slug", flat=True).distinct())
    if clause.value.lower() not in names:
        raise _unknown(clause, "policy", "The policies are", names)
    return Q(run_document__policy=clause.value.lower())


def _tool(user: User, clause: FieldClause) -> Q:
    calls = calls_tool(clause.value)
    if not door.readable_documents(user).filter(calls).exists():
        ours = PolicyVersion.objects.filter(policy__origin=Origin.OURS)
        offered = ours.values_list("content__tools", flat=True)
        names = sorted({name for tools in offered for name in tools or ()})
        if clause.value not in names:
            raise _unknown(clause, "tool", "The tools are", names)
    return calls


def calls_tool(name: str) -> Q:
    """Tell which documents are of turns that called the tool, alone or among others."""
    return Q(tool=name) | Q(other_tools__contains=[name])


def _status(_: User, clause: FieldClause) -> Q:
    """Match the run's status; while a run is live only the run itself knows it."""
    value = clause.value.lower()
    by_name = {name: status for status, name in STATUS_NAMES.items()}
    status = by_name.get(value, value)
    if status not in RunStatus.values:
        raise _unknown(clause, "status", "A run is", list(by_name))
    if status in LIVE:
        return Q(turn__in=Turn.objects.filter(run__in=Run.objects.live().filter(status=status)))
    return Q(run_document__status=status)


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


def _has(_: User, clause: FieldClause) -> Q:
    if clause.value.lower() != "error":
        raise QueryError(f"{clause.text}: what a turn can have is an error, as in has:error.")
    return Q(has_error=True)


def _in(_: User, clause: FieldClause) -> Q:
    """Refuse what names no part; where the words stand is for `Query` to say."""
    if clause.value.lower() not in PARTS:
        raise _unknown(clause, "part", "The parts of a turn are", list(PARTS))
    if clause.is_negative:
        raise QueryError(f"{clause.text}: name the parts to look in, as in in:answer in:thought.")
    return Q()


def _unknown(clause: FieldClause, noun: str, lead: str, names: Sequence[str]) -> QueryError:
    listed = ", ".join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")
    there_is = f"{lead}: {listed}." if names else f"There is no {noun} yet."
    return QueryError(f"{clause.text}: there is no {noun} {clause.value!r}. {there_is}")


FIELDS = {
    field.name: field
    for field in (
        SearchField(
            "policy",
            "policy:explicit",
            "Turns of runs under this policy.",
            _policy,
            is_narrow=False,
        ),
        SearchField(
            "status",
            "status:failed",
            'Turns of runs that ended so: answered, stopped, failed, status:"ran out"; or are '
            "live: running, waiting, interrupted, queued again.",
            _status,
            is_narrow=False,
        ),
        SearchField(
            "run",
            "run:12",
            "Turns of this run.",
            _run,
            is_in_order=True,
        ),
        SearchField(
            "has",
            "has:error",
            "Turns whose action failed.",
            _has,
            is_in_order=True,
        ),
        SearchField(
            "user",
            "user:ada",
            "Turns of runs that this person asked for; reviewers find anybody's.",
            _user,
            is_narrow=False,
            is_in_order=True,
        ),
        SearchField(
            "tool",
            "tool:python_repl",
            "Turns that called this tool.",
            _tool,
            is_in_order=True,
        ),
        SearchField(
            "in",
            "in:observation",
            "Looks for the words of the query in this part of a turn alone: question, answer, "
            "thought, action or observation.",
            _in,
            is_narrow=False,
        ),
    )
}
"""Every field by its name; of two whose turns an index has in order the first has fewer."""
