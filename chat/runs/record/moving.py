"""Pictures and long observations that rows still have are made artifacts, action by action."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import F, Func, IntegerField, Q

from chat.models import Action, Run
from chat.runs.record.artifacts import LONG, set_apart
from chat.runs.record.statements import store_apart

CHUNK = 20
"""How many actions are read at once; each may hold some megabytes."""


def move_out() -> int:
    """Move what is too big for its row into the store of artifacts; return of how many actions.

    Those of runs that have ended: a worker writes its own. It may be broken off and begun anew, and
    goes on where it was.
    """
    return sum(map(_move, _found()))


def _found() -> Iterator[Action]:
    size = Func(F("observation"), function="octet_length", output_field=IntegerField())
    rows = Action.objects.annotate(size=size).filter(turn__run__ended_at__isnull=False)
    rows = rows.filter(Q(images__isnull=False) | Q(whole="", size__gt=LONG))
    following = rows = rows.select_related("turn__run").order_by("pk")
    while portion := list(following[:CHUNK]):
        yield from portion
        following = rows.filter(pk__gt=portion[-1].pk)


def _move(action: Action) -> bool:
    set_apart(action)
    if not action.brings:
        return False
    with transaction.atomic():
        runs = Run.objects.select_for_update(no_key=True)
        is_there = runs.filter(pk=action.turn.run_id).exists()
        if is_there:
            store_apart(action)
    return is_there
