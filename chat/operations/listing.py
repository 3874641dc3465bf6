"""Runs in words, for an administrator's terminal: one a line, or one in full."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from chat.models import LIVE, Run, Turn

COLUMNS = ("run", "status", "reason", "attempt", "user", "policy", "age", "worked", "worker")
SHORT = 60


def chosen(
    *,
    statuses: list[str] | None = None,
    user: str = "",
    policy: str = "",
    older_than: float | None = None,
    expired: bool = False,
) -> QuerySet[Run]:
    """Return the runs that fit all that is asked for, newest first; times are seconds."""
    runs = Run.objects.select_related("owner", "policy_version__policy").order_by("-pk")
    now = timezone.now()
    if statuses:
        runs = runs.filter(status__in=statuses)
        if set(statuses) <= set(LIVE):
            runs = runs.filter(ended_at=None)  # as the index of live runs says it
    if user:
        runs = runs.filter(owner__username=user)
    if policy:
        runs = runs.filter(policy_version__policy__slug=policy)
    if older_than is not None:
        runs = runs.filter(created_at__lt=now - timedelta(seconds=older_than))
    if expired:
        runs = runs.filter(lease_until__lt=now, ended_at=None)
    return runs


def row(run: Run) -> dict[str, Any]:
    """Return one run's line as values."""
    age = (timezone.now() - run.created_at).total_seconds()
    return {
        "run": run.pk,
        "status": run.status,
        "reason": run.reason,
        "attempt": run.attempt,
        "user": run.owner.get_username(),
        "policy": f"{run.policy_version.policy.slug} v{run.policy_version.number}",
        "age": round(age, 1),
        "worked": None if run.seconds is None else round(run.seconds, 1),
        "worker": run.worker if run.is_live else "",
    }


def whole(run: Run) -> dict[str, Any]:
    """Return all that an administrator asks of one run; texts of people and models are cut."""
    calls = run.model_calls.order_by("index")
    return row(run) | {
        "question": _short(run.question),
        "message": run.message,
        "answer": _short(run.answer),
        "partial": run.partial,
        "model": f"{run.provider} {run.model}".strip(),
        "tokens": [run.input_tokens, run.output_tokens],
        "asked": _moment(run.created_at),
        "started": _moment(run.started_at),
        "claimed": _moment(run.claimed_at),
        "lease until": _moment(run.lease_until),
        "stop asked": _moment(run.stop_requested_at),
        "ended": _moment(run.ended_at),
        "seconds of earlier attempts": round(run.seconds_used, 1),
        "cursor": run.stream_id,
        "calls": calls.count(),
        "failed calls": [
            _short(text) for text in calls.exclude(error="").values_list("error", flat=True)
        ],
        "turns": [
            f"{turn.number} {turn.status} (attempt {turn.attempt}): {_acted(turn)}"
            for turn in run.turns.order_by("index")
        ],
        "approvals": [
            f"turn {one.turn_index + 1}: {one.tool}, {one.status}"
            for one in run.approvals.order_by("turn_index", "position")
        ],
    }


def _acted(turn: Turn) -> str:
    """Name the tools that a turn called, each with how it failed, or else its kind."""
    acts = (f"{action.tool} {action.error}".strip() for action in turn.actions)
    return ", ".join(filter(None, acts)) or turn.kind


def _moment(moment: Any) -> str | None:
    return None if moment is None else str(moment.isoformat(timespec="seconds"))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SHORT else f"{flat[: SHORT - 1]}…"
