"""A conversation as its page shows it: the newest runs, and the turns of the last few."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from agents.contracts import EndReason
from chat.governance import door
from chat.models import Approval, Conversation, Run, Turn, User
from chat.runs.models_offered import ModelOffered
from chat.runs.queue import tell_ahead

SHOWN_RUNS = 30
WITH_TURNS = 5
MAX_TURNS = 50


@dataclass(frozen=True)
class Row:
    """A run with its turns, None where they are fetched only when unfolded."""

    run: Run
    turn_count: int
    turns: Sequence[Turn] | None


@dataclass(frozen=True)
class Thread:
    """The runs of one page; `earlier` is the run that older ones come before, None at the start."""

    rows: Sequence[Row]
    earlier: int | None

    @property
    def live_run(self) -> Run | None:
        """Return the last run that has not ended."""
        return next((row.run for row in reversed(self.rows) if row.run.is_live), None)

    @property
    def pending(self) -> Approval | None:
        """Return the approval that the last live run waits for."""
        turns = next((row.turns for row in reversed(self.rows) if row.run.is_live), None)
        action = turns[-1].open_action if turns else None
        approval = None if action is None else action.approval
        return approval if approval is not None and approval.is_pending else None

    @property
    def is_asked(self) -> bool:
        """Tell whether the last run ended with a question back."""
        return bool(self.rows) and self.rows[-1].run.reason == EndReason.ASKED

    @property
    def policy(self) -> str:
        """Return the slug of the policy that was asked last, empty when none was."""
        return self.rows[-1].run.policy_version.policy.slug if self.rows else ""

    @property
    def model(self) -> str:
        """Return the model that was chosen last, as a form has it; empty for none."""
        return _model_of(self.rows[-1].run) if self.rows else ""


def thread_of(conversation: Conversation, before: int | None = None) -> Thread:
    """Return the newest runs of a conversation, or the newest of those before run `before`."""
    runs = conversation.runs.select_related("policy_version__policy", "owner").order_by("-pk")
    if before is not None:
        runs = runs.filter(pk__lt=before)
    newest = list(runs[: SHOWN_RUNS + 1])
    shown = newest[:SHOWN_RUNS][::-1]
    tell_ahead(shown)
    counts = _turn_counts(shown)
    last = {run.pk for run in shown[-WITH_TURNS:]}
    turns = _turns_of(
        run for run in shown if run.is_live or (run.pk in last and counts[run.pk] <= MAX_TURNS)
    )
    rows = [Row(run, counts[run.pk], turns.get(run.pk)) for run in shown]
    return Thread(rows, earlier=shown[0].pk if len(newest) > SHOWN_RUNS else None)


def last_policy(user: User) -> str:
    """Return the slug of the policy that the person asked last, empty when they asked none."""
    asked = door.asked_runs(user).order_by("-created_at")
    return asked.values_list("policy_version__policy__slug", flat=True).first() or ""


def last_model(user: User) -> str:
    """Return the model that the person chose with their last question; empty for none."""
    asked = door.asked_runs(user).order_by("-created_at").first()
    return "" if asked is None else _model_of(asked)


def _model_of(run: Run) -> str:
    chosen = ModelOffered(run.chosen_provider, run.chosen_model)
    return chosen.value if run.chosen_provider else ""


def _turn_counts(runs: Iterable[Run]) -> dict[int, int]:
    counted = Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(n=Count("turns"))
    return dict(counted.values_list("pk", "n"))


def _turns_of(runs: Iterable[Run]) -> dict[int, list[Turn]]:
    turns: dict[int, list[Turn]] = {run.pk: [] for run in runs}
    for turn in Approval.objects.attach(
        Turn.objects.filter(run__in=turns).order_by("run_id", "index")
    ):
        turns[turn.run_id].append(turn)
    return turns
