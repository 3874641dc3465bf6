"""A transcript as its page shows it: a hundred turns at a time, each with its model calls."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from chat.models import Approval, ModelCall, Run, Turn

PAGE_LENGTH = 100
WIDTH = 1000
"""The width of the waterfall, in its own units."""


@dataclass(frozen=True)
class Bar:
    """Where a turn stands in the waterfall, in thousandths of its width."""

    start: int
    width: int


@dataclass(frozen=True)
class Row:
    """A turn with the calls that were made in it."""

    turn: Turn
    calls: Sequence[ModelCall]
    bar: Bar

    @property
    def tokens(self) -> int:
        """Return the tokens of the turn's calls, in and out; 0 where no server counted."""
        return sum((c.input_tokens or 0) + (c.output_tokens or 0) for c in self.calls)


@dataclass(frozen=True)
class Reading:
    """One page of a transcript; `closing` are the calls made after the last turn."""

    rows: Sequence[Row]
    closing: Sequence[ModelCall]
    total: int

    @property
    def first(self) -> int:
        """Return the number of the first turn on the page, 0 when there is none."""
        return self.rows[0].turn.number if self.rows else 0

    @property
    def last(self) -> int:
        """Return the number of the last turn on the page."""
        return self.rows[-1].turn.number if self.rows else 0

    @property
    def is_whole(self) -> bool:
        """Tell whether every turn is on this page."""
        return len(self.rows) == self.total

    @property
    def before(self) -> int | None:
        """Return a turn of the page before this one."""
        return self.first - 1 if self.first > 1 else None

    @property
    def after(self) -> int | None:
        """Return a turn of the page after this one."""
        return self.last + 1 if self.last < self.total else None


def read(run: Run, number: int = 1) -> Reading:
    """Return the page of the transcript that holds turn `number`."""
    total = run.turns.count()
    number = max(1, min(number, total))
    start = (number - 1) // PAGE_LENGTH * PAGE_LENGTH
    turns = Approval.objects.attach(
        run.turns.filter(index__gte=start, index__lt=start + PAGE_LENGTH)
    )
    is_last = start + PAGE_LENGTH >= total
    calls = defaultdict(list)
    for call in _calls(run, start, None if is_last else start + PAGE_LENGTH):
        calls[call.turn_index].append(call)
    rows = [
        Row(turn, calls.pop(turn.index, []), bar)
        for turn, bar in zip(turns, _bars(turns), strict=True)
    ]
    return Reading(rows, [call for rest in calls.values() for call in rest], total)


def _calls(run: Run, start: int, end: int | None) -> QuerySet[ModelCall]:
    # The texts are fetched only when a call is opened.
    calls = run.model_calls.filter(turn_index__gte=start).defer("rest", "reply", "reasoning")
    return calls if end is None else calls.filter(turn_index__lt=end)


def _bars(turns: Sequence[Turn]) -> list[Bar]:
    spans = [(turn.started_at, turn.ended_at or turn.started_at) for turn in turns]
    if not spans:
        return []
    begin, end = min(s for s, _ in spans), max(e for _, e in spans)
    whole = (end - begin).total_seconds() or 1.0

    def place(moment: datetime) -> int:
        return round((moment - begin).total_seconds() / whole * WIDTH)

    return [Bar(place(s), max(8, place(e) - place(s))) for s, e in spans]
