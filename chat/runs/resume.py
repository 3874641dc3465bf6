"""What is stored of a run, and of the thread it stands in, when an attempt begins."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import Q, QuerySet

from agents import contracts
from agents.contracts import EndReason, Exchange, Purpose
from agents.errors import ErrorKind
from agents.planning import goal_plan_of
from agents.state import REMEMBERED
from chat.models import Approval, ModelCall, Run, RunStatus, Turn, TurnStatus
from chat.runs.spent import Spent, spent

MAX_STEPS_BACK = 50


@dataclass(frozen=True)
class Before:
    """What earlier attempts stored; `made` are the calls behind where it goes on, by purpose."""

    turns: list[Turn]
    calls: int
    made: Counter[str]
    history: list[Exchange]
    spent: list[Spent]

    @classmethod
    def read(cls, run: Run) -> Self:
        """Read it; the first attempt asks for nothing that cannot be there."""
        if run.attempt == 1:
            return cls([], 0, Counter(), history(run), [])
        turns = Approval.objects.attach(run.turns.order_by("index"))
        calls = ModelCall.objects.filter(run=run)
        return cls(turns, calls.count(), _made(calls, turns), history(run), spent(run))

    @property
    def last_attempt(self) -> int:
        """Return the attempt that last stored a turn, 0 before the first."""
        return max((turn.attempt for turn in self.turns), default=0)

    def position(self, is_asked: Callable[[str], bool] = lambda purpose: True) -> int:
        """Return how many calls lie behind, of the purposes that one model is asked for."""
        return sum(count for purpose, count in self.made.items() if is_asked(purpose))

    def as_contracts(self) -> list[contracts.Turn]:
        """Return the engine's values of the turns; raises ArtifactsAway or ArtifactLost."""
        return [turn.as_contract() for turn in self.turns]


def history(run: Run, until: datetime | None = None) -> list[Exchange]:
    """Return the last answered exchanges of the thread that the run follows, oldest first.

    Those that were answered after `until` are left out.
    """
    exchanges: list[Exchange] = []
    parent_id = run.parent_id
    for _ in range(MAX_STEPS_BACK):
        if parent_id is None or len(exchanges) == REMEMBERED:
            break
        fields = "question", "answer", "status", "reason", "parent_id", "ended_at"
        parent = Run.objects.only(*fields).get(pk=parent_id)
        if parent.status == RunStatus.SUCCEEDED and _was_ended(parent, until):
            plan = _left(parent) if parent_id == run.parent_id else None
            exchanges.append(Exchange(question=parent.question, answer=parent.answer, plan=plan))
        parent_id = parent.parent_id
    return exchanges[::-1]


def _left(run: Run) -> dict[str, Any] | None:
    """Return the plan of goals of a run that ended with a question back, as it stood then."""
    if run.reason != EndReason.ASKED or not run.turns.filter(plan__has_key="phases").exists():
        return None
    plan = goal_plan_of(turn.as_contract() for turn in run.turns.order_by("index"))
    return None if plan is None else plan.model_dump(mode="json")


def _was_ended(run: Run, until: datetime | None) -> bool:
    return until is None or (run.ended_at is not None and run.ended_at <= until)


def _made(calls: QuerySet[ModelCall], turns: list[Turn]) -> Counter[str]:
    """Return the calls that lie behind the point where the run goes on, by their purposes.

    A call that was cut off, or whose turn begins anew, is made again; so are those that look for
    a tool, unless the action they led to is stored, and one that is itself the open action. What
    a later attempt made again counts once.
    """
    complete = sum(turn.status != TurnStatus.OPEN for turn in turns)
    done = Q(turn_index__lt=complete)
    if complete < len(turns):
        of_open = Q(turn_index=complete)
        done |= of_open & (
            ~Q(purpose=Purpose.WORK) if turns[-1].actions else Q(purpose=Purpose.THINK)
        )
    answered = calls.filter(done).exclude(error=ErrorKind.INTERRUPTED)
    made = Counter(answered.values_list("turn_index", "purpose", "attempt"))
    last: dict[tuple[int, str], int] = {}
    for turn_index, purpose, attempt in made:
        step = (turn_index, purpose)
        last[step] = max(last.get(step, 0), attempt)
    behind: Counter[str] = Counter()
    for (turn_index, purpose), attempt in last.items():
        behind[purpose] += made[turn_index, purpose, attempt]
    return behind
