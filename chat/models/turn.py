"""A turn: one pass of think, act and observe, as it happened."""

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.urls import reverse

from agents import contracts
from chat.models.run import Run

if TYPE_CHECKING:
    from chat.models.action import Action


class TurnStatus(models.TextChoices):
    """Whether a turn may still change."""

    OPEN = "open", "open"
    COMPLETE = "complete", "complete"
    INTERRUPTED = "interrupted", "interrupted"


class TurnManager(models.Manager["Turn"]):
    """Turns, each with its actions: one query more for as many turns as are read."""

    def get_queryset(self) -> models.QuerySet["Turn"]:
        """Return turns that will have their actions."""
        return super().get_queryset().prefetch_related("stored_actions")


class Turn(models.Model):
    """A stored turn; any part may be absent. `stream_id` is the cursor of its last frame.

    `kept` is what the model's server wants back of its native calls, as JSON of its own.

    The row is written before a tool runs, and completed before the page sees it complete. Of a run
    that was not worked on here, times may be unknown: None, never a guess. `space_id` is the run's.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="turns")
    space_id = models.BigIntegerField(editable=False)
    index = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=TurnStatus, default=TurnStatus.OPEN)

    kind = models.CharField(
        max_length=12, choices=[(k.value, k.value) for k in contracts.ThoughtKind]
    )
    thought = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    plan = models.JSONField(null=True, blank=True)
    kept = models.JSONField(null=True, blank=True)

    stream_id = models.CharField(max_length=40, default="0-0")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = TurnManager()

    class Meta:
        ordering = ["run", "index"]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="one_turn_per_index"),
            models.CheckConstraint(
                name="turn_status_is_known", condition=Q(status__in=TurnStatus.values)
            ),
            models.CheckConstraint(
                name="turn_kind_is_known",
                condition=Q(kind__in=[kind.value for kind in contracts.ThoughtKind]),
            ),
            models.CheckConstraint(
                name="turn_open_has_no_end",
                condition=~Q(status="open") | Q(ended_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"Turn {self.number} of run {self.run_id}"

    def get_absolute_url(self) -> str:
        """Return the place of the turn in its run's transcript."""
        page = reverse("transcript", args=[self.run_id])
        return f"{page}?turn={self.number}#run-{self.run_id}-turn-{self.number}"

    @property
    def number(self) -> int:
        """Return the turn's number as people count, from 1."""
        return self.index + 1

    @cached_property
    def actions(self) -> "list[Action]":
        """Return the turn's actions in their order; none of one that is not stored yet."""
        return list(self.stored_actions.all()) if self.pk is not None else []

    @property
    def open_action(self) -> "Action | None":
        """Return the first action of which nothing came back."""
        return next((action for action in self.actions if action.observation is None), None)

    @property
    def tools(self) -> list[str]:
        """Return the names of the tools that the turn called, in their order."""
        return [action.tool for action in self.actions if action.tool]

    @property
    def seconds(self) -> float | None:
        """Return how long the whole turn took; None while it is open, or where nobody knows."""
        if self.started_at is None or self.ended_at is None:
            return None
        return between(self.started_at, self.ended_at)

    @property
    def when(self) -> datetime:
        """Return when the turn was, or the nearest that is known: its run's date."""
        return self.started_at or self.run.when

    def as_contract(self) -> contracts.Turn:
        """Return the engine's value of this turn, for replay."""
        actions = tuple(action.as_contract() for action in self.actions)
        thought = contracts.Thought(
            kind=contracts.ThoughtKind(self.kind),
            text=self.thought,
            calls=tuple(action.call for action in actions if action.call is not None),
            answer=self.answer,
            plan=self.plan,
            kept=tuple(self.kept or ()),
        )
        return contracts.Turn(index=self.index, thought=thought, actions=actions)


def between(start: datetime, end: datetime) -> float:
    """Return the seconds from one moment to the other, never less than none."""
    return max(0.0, (end - start).total_seconds())  # the database's own clock may be set back
