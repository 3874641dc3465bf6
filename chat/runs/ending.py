"""The end of a run, whoever ends it: this alone writes one, so that every end is whole.

An end closes the turn that is open, sums up the tokens, and reaches search in the same transaction;
`tell_end` then counts it and tells the pages. Three may end a run: the worker that holds it (its
recorder, under the attempt's fence), a stop that finds it unheld, and a worker that cannot even
record it. The last two end it under an attempt of its own, which fences off whoever wakes up late
and whose frame lies above all that pages have read.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Now

from agents.contracts import EndReason, Outcome, Status
from agents.control import Control
from agents.errors import ErrorKind
from agents.text import storable
from chat.metrics.instruments import count_end
from chat.models import Action, ModelCall, Run, RunStatus, Turn
from chat.runs.lease import LeaseLost, fence, retrying_last
from chat.runs.record.statements import store
from chat.search.documents.runs import index_run_ended
from chat.stream.announce import announce_end
from chat.stream.markdown import FORM, render_markdown
from chat.stream.render import render_run


def end_held(
    run: Run,
    outcome: Outcome,
    stream_id: str,
    call: ModelCall | None,
    cut_off: Turn | None,
    actions: Sequence[Action],
    control: Control,
) -> str:
    """End a run under the attempt that holds it, with the last that was written; return its HTML.

    `outcome` has the answer as people saw it. An end that is stored and whose commit was not
    answered is taken for what it is. Raises LeaseLost, and what `retrying` raises.
    """
    _fill(run, outcome, run.clock.now(), stream_id)

    def write() -> str:
        try:
            _write_held(run, call, cut_off, actions)
        except LeaseLost:
            if not _is_stored(run):
                raise
        return render_run(run, index_run_ended(run))

    return retrying_last(write, lambda: render_run(run) if _is_stored(run) else None, control)


def end_unheld(run: Run, outcome: Outcome, now: datetime) -> None:
    """End a run that no worker holds and whose row this transaction has locked."""
    _end_beyond(run, outcome, now)
    index_run_ended(run)


def give_up(run: Run, message: str) -> None:
    """End a run that cannot even be recorded, so that nobody tries it for ever; raises LeaseLost.

    Search is not told here: what made it impossible to record may lie in what search is to read.
    """
    outcome = Outcome(status=Status.FAILED, reason=EndReason.INTERNAL, message=message)
    with transaction.atomic():
        fence(run)
        # A row of its own, since what is rolled back is tried again with the same `run`.
        held: Any = Run.objects.annotate(now=Now()).get(pk=run.pk)
        _end_beyond(held, outcome, held.now)


def tell_end(run: Run) -> None:
    """Count an end that is committed and tell everybody who watches the run."""
    count_end(run)
    announce_end(run)


_FIELDS = (
    *("answer", "answer_html", "answer_form", "partial", "status", "reason", "message"),
    *("stream_id", "lease_until", "ended_at", "input_tokens", "output_tokens"),
)


def _write_held(
    run: Run, call: ModelCall | None, cut_off: Turn | None, actions: Sequence[Action]
) -> None:
    if cut_off is not None:
        cut_off.stream_id = run.stream_id
    if call is not None or cut_off is not None:
        store(run, call, cut_off, actions)
    _sum_up_tokens(run)
    if run.status == RunStatus.STOPPED:
        run.message = _who_stopped(run) or run.message
    fence(run, **{name: getattr(run, name) for name in _FIELDS})


def _end_beyond(run: Run, outcome: Outcome, now: datetime) -> None:
    run.attempt += 1
    _fill(run, outcome, now, f"{run.attempt}-1")
    _close_open_turn(run, now)
    run.approvals.filter(status="pending").update(status="withdrawn", decided_at=now)
    _sum_up_tokens(run)
    # The key is not among them: a question that follows this run would be kept waiting.
    run.save(update_fields=["attempt", *_FIELDS])


def _fill(run: Run, outcome: Outcome, now: datetime, stream_id: str) -> None:
    run.answer = storable(outcome.answer)
    run.partial = outcome.partial and bool(run.answer)
    run.answer_html = render_markdown(run.answer) if run.answer else ""
    run.answer_form = FORM
    run.status = RunStatus(outcome.status)
    run.reason = outcome.reason
    run.message = storable(outcome.message)
    run.lease_until = None
    run.ended_at = now
    run.stream_id = stream_id


def _close_open_turn(run: Run, now: datetime) -> None:
    """Close the turn that is open, if there is one, its open action as interrupted."""
    cut_off = run.turns.filter(ended_at=None)
    open_actions = Action.objects.filter(turn__in=cut_off, observation=None).order_by("position")
    Action.objects.filter(pk__in=open_actions.values("pk")[:1]).update(
        observation="", error=ErrorKind.INTERRUPTED, ended_at=now
    )
    cut_off.update(status="interrupted", ended_at=now)


def _sum_up_tokens(run: Run) -> None:
    """Fill in what all calls so far come to, as far as their servers counted."""
    sums = run.model_calls.aggregate(given=Sum("input_tokens"), made=Sum("output_tokens"))
    run.input_tokens, run.output_tokens = sums["given"], sums["made"]


def _who_stopped(run: Run) -> str:
    return Run.objects.values_list("message", flat=True).get(pk=run.pk)


def _is_stored(run: Run) -> bool:
    """Tell whether this very ending is stored, and only the news of it was lost."""
    mine = Run.objects.filter(pk=run.pk, attempt=run.attempt, stream_id=run.stream_id)
    return mine.filter(status=run.status).exists()
