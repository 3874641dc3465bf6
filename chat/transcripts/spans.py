"""When a turn worked, and on what, as bars of a waterfall that all turns of the run share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from chat.models import ModelCall, Run, Turn


@dataclass(frozen=True)
class Span:
    """A stretch of time in milliseconds since the run began: of a `turn`, `model` or `tool`."""

    kind: str
    start: int
    width: int


class Clock:
    """Tell times as milliseconds of one run."""

    def __init__(self, run: Run, turns: Sequence[Turn]) -> None:
        now = timezone.now()
        self._begin = run.started_at or min(
            (turn.started_at for turn in turns if turn.started_at), default=now
        )
        self.whole = max(1, self._since(run.ended_at or now))

    def spans(self, turn: Turn, calls: Iterable[ModelCall]) -> list[Span]:
        """Return the bars of a turn, of its calls and of its tools, as far as times are known."""
        return list(self._spans(turn, calls))

    def _spans(self, turn: Turn, calls: Iterable[ModelCall]) -> Iterator[Span]:
        if turn.started_at:
            yield self._span("turn", turn.started_at, turn.ended_at or turn.started_at)
        for call in calls:
            if call.started_at and call.seconds is not None:
                end = call.started_at + timedelta(seconds=call.seconds)
                yield self._span("model", call.started_at, end)
        for action in turn.actions:
            if action.started_at and action.ended_at:
                yield self._span("tool", action.started_at, action.ended_at)

    def _span(self, kind: str, start: datetime, end: datetime) -> Span:
        begun = self._since(start)
        return Span(kind, begun, max(0, self._since(end) - begun))

    def _since(self, moment: datetime) -> int:
        return max(0, round((moment - self._begin).total_seconds() * 1000))
