"""A transcript as its page shows it: a hundred turns at a time, each with its model calls."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from chat.models import Approval, ModelCall, Run, Turn
from chat.transcripts.spans import Clock, Span

PAGE_LENGTH = 100


@dataclass(frozen=True)
class Row:
    """A turn with the calls that were made in it."""

    turn: Turn
    calls: Sequence[ModelCall]
    spans: Sequence[Span]

    @property
    def tokens(self) -> int:
        """Return the tokens of the turn's calls, in and out; 0 where no server counted."""
        return sum((c.input_tokens or 0) + (c.output_tokens or 0) for c in self.calls)


@dataclass(frozen=True)
class Reading:
    """One page of a transcript; `closing` are the calls made after the last turn.

    `whole` is how many milliseconds the run took so far.
    """

    rows: Sequence[Row]
    closing: Sequence[ModelCall]
    total: int
    whole: int

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
    end = start + PAGE_LENGTH
    rows, rest, whole = _rows(run, start, end, None if end >= total else end)
    return Reading(rows, rest, total, whole)


def rows_from(run: Run, number: int) -> tuple[list[Row], int]:
    """Return the rows from turn `number` on, a page at most, and how long the run took so far."""
    start = max(0, number - 1)
    rows, _, whole = _rows(run, start, start + PAGE_LENGTH, start + PAGE_LENGTH)
    return rows, whole


def _rows(
    run: Run, start: int, end: int, calls_end: int | None
) -> tuple[list[Row], list[ModelCall], int]:
    turns = Approval.objects.attach(run.turns.filter(index__gte=start, index__lt=end))
    calls = defaultdict(list)
    for call in _calls(run, start, calls_end):
        calls[call.turn_index].append(call)
    clock = Clock(run, turns)
    rows = []
    for turn in turns:
        own = calls.pop(turn.index, [])
        rows.append(Row(turn, own, clock.spans(turn, own)))
    return rows, [call for rest in calls.values() for call in rest], clock.whole


def _calls(run: Run, start: int, end: int | None) -> QuerySet[ModelCall]:
    # The texts are fetched only when a call is opened.
    texts = "pieces", "rest", "reply", "reasoning"
    calls = run.model_calls.filter(turn_index__gte=start).defer(*texts)
    return calls if end is None else calls.filter(turn_index__lt=end)
