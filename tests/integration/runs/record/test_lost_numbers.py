"""A database that dies may give the number of a row that it lost to another one."""

from collections.abc import Callable
from contextlib import suppress

from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from agents.contracts import ModelCall as Call
from agents.contracts import Usage
from chat.models import ModelCall, Run, Turn
from chat.runs.record.requests import CallLog
from chat.runs.record.statements import store


class DatabaseDied(Exception):
    """Raised in the place of a commit."""


def lose(write: Callable[[], None], model: type[Model]) -> None:
    """Write in a transaction that is lost, with the number that was given out."""
    with suppress(DatabaseDied), transaction.atomic():
        write()
        raise DatabaseDied
    numbers = connection.ops.sequence_reset_sql(no_style(), [model])
    with connection.cursor() as cursor:
        cursor.execute(*numbers)


def call_of(run: Run) -> ModelCall:
    call = Call(
        purpose="think",
        provider="p",
        model="m",
        request="{}",
        reply="",
        usage=Usage(),
        started_at=0,
        seconds=0,
    )
    return CallLog(run, 0).row(call, 0)


def test_a_call_is_stored_though_another_has_the_number_it_was_tried_with(
    claimed: Callable[[], Run],
) -> None:
    lost, other = call_of(claimed()), call_of(claimed())
    lose(lambda: store(lost.run, lost), ModelCall)
    store(other.run, other)
    store(lost.run, lost)
    assert ModelCall.objects.count() == 2


def test_a_turn_is_stored_though_another_has_the_number_it_was_tried_with(
    claimed: Callable[[], Run],
) -> None:
    lost, other = (
        Turn(run=claimed(), index=0, attempt=1, kind="thought", started_at=timezone.now())
        for _ in range(2)
    )
    lose(lambda: store(lost.run, turn=lost), Turn)
    store(other.run, turn=other)
    store(lost.run, turn=lost)
    assert Turn.objects.count() == 2
