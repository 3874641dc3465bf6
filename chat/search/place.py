"""Where a turn stands among all: by when its run was, then by its number."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Self

from django.db.models import BooleanField, F, Func, QuerySet, Value

from chat.models import TurnDocument

Documents = QuerySet[TurnDocument]

NEWEST_FIRST = ("-at", "-turn_id")
OLDEST_FIRST = ("at", "turn_id")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Place(NamedTuple):
    """The place of a turn; what an address names a page of results by."""

    at: datetime
    turn_id: int

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // _MICROSECOND}.{self.turn_id}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the place that `str` wrote; raises ValueError."""
        time, _, turn_id = text.partition(".")
        if not (turn_id.isascii() and turn_id.isdigit() and len(text) < 40):
            raise ValueError(text)
        try:
            return cls(_EPOCH + int(time) * _MICROSECOND, min(int(turn_id), 2**63 - 1))
        except OverflowError as error:
            raise ValueError(text) from error

    def moved(self, turns: int) -> Self:
        """Return the place so many turn numbers further."""
        return self._replace(turn_id=self.turn_id + turns)


def older(documents: Documents, place: Place) -> Documents:
    """Keep the documents before a place."""
    return documents.filter(_compared("<", place), at__lte=place.at)


def newer(documents: Documents, place: Place) -> Documents:
    """Keep the documents behind a place."""
    return documents.filter(_compared(">", place), at__gte=place.at)


def places(documents: Documents) -> list[Place]:
    """Return the places of the documents, in their order."""
    return list(map(Place._make, documents.values_list("at", "turn_id")))


def in_order(documents: Documents, *, newest_first: bool) -> Documents:
    """Put the documents in order, as an index has them."""
    return documents.order_by(*(NEWEST_FIRST if newest_first else OLDEST_FIRST))


def sorted_by_place(documents: Documents, *, newest_first: bool) -> Documents:
    """Put the documents in order after all were found: by an expression that no index has."""
    at = F("at") + Value(timedelta())
    order: Iterable[object] = (at.desc(), "-turn_id") if newest_first else (at.asc(), "turn_id")
    return documents.order_by(*order)  # type: ignore[arg-type] # the stubs know no expression


def _compared(operator: str, place: Place) -> Func:
    # Postgres takes any row for as likely to fit as another: the time beside it says how many do.
    def row(*parts: object) -> Func:
        return Func(*parts, template="(%(expressions)s)")

    mine = row(F("at"), F("turn_id"))
    other = row(Value(place.at), Value(place.turn_id))
    return Func(
        mine, other, template="%(expressions)s", arg_joiner=operator, output_field=BooleanField()
    )
