"""A turn: one pass of think, act and observe, as it happened."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.urls import reverse

from agents import contracts
from chat.models.ordered_json import OrderedJSONField
from chat.models.run import Run

if TYPE_CHECKING:
    from chat.models.approval import Approval


class TurnStatus(models.TextChoices):
    """Whether a turn may still change."""

    OPEN = "open", "open"
    COMPLETE = "complete", "complete"
    INTERRUPTED = "interrupted", "interrupted"


class Turn(models.Model):
    """A stored turn; any part may be absent. `stream_id` is the cursor of its last frame.

    The row is written before the tool runs, and completed before the page sees it complete.
    `acted_at` is when the action began; a row that is open has it only where the action was
    approved. `approval` is there once `Approval.objects.attach` has looked for it. Of a run that
    was not worked on here, times may be unknown: None, never a guess.
    """

    approval: "Approval | None" = None

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="turns")
    index = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    status = models.CharField(max_length=12, choices=TurnStatus, default=TurnStatus.OPEN)

    kind = models.CharField(
        max_length=12, choices=[(k.value, k.value) for k in contracts.ThoughtKind]
    )
    thought = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    plan = models.JSONField(null=True, blank=True)
    tool = models.CharField(max_length=120, blank=True)
    inputs = OrderedJSONField(null=True, blank=True)
    observation = models.TextField(null=True, blank=True)  # noqa: DJ001 - None: nothing came back yet
    observation_error = models.CharField(max_length=60, blank=True)
    observation_images = models.JSONField(null=True, blank=True)
    observation_ends = models.CharField(max_length=24, blank=True, default="", db_default="")

    stream_id = models.CharField(max_length=40, default="0-0")
    started_at = models.DateTimeField(null=True, blank=True)
    acted_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

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
            models.CheckConstraint(
                name="turn_tool_iff_inputs",
                condition=Q(tool="", inputs__isnull=True) | (~Q(tool="") & Q(inputs__isnull=False)),
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

    @property
    def images(self) -> tuple[contracts.Image, ...]:
        """Return the pictures that came back with the observation."""
        return tuple(map(contracts.Image.model_validate, self.observation_images or ()))

    @property
    def seconds(self) -> float | None:
        """Return how long the whole turn took; None while it is open, or where nobody knows."""
        if self.started_at is None or self.ended_at is None:
            return None
        return _between(self.started_at, self.ended_at)

    @property
    def when(self) -> datetime:
        """Return when the turn was, or the nearest that is known: its run's date."""
        return self.started_at or self.run.when

    @property
    def action_seconds(self) -> float | None:
        """Return how long the action took; None without one or while it runs."""
        if self.acted_at is None or self.ended_at is None:
            return None
        return _between(self.acted_at, self.ended_at)

    def as_contract(self) -> contracts.Turn:
        """Return the engine's value of this turn, for replay."""
        call = contracts.ToolCall(tool=self.tool, inputs=self.inputs) if self.tool else None
        return contracts.Turn(
            index=self.index,
            thought=contracts.Thought(
                kind=contracts.ThoughtKind(self.kind),
                text=self.thought,
                call=call,
                answer=self.answer,
                plan=self.plan,
            ),
            action=call,
            observation=None
            if self.observation is None
            else contracts.Observation(
                text=self.observation,
                error=self.observation_error or None,
                ends=contracts.EndReason(self.observation_ends) if self.observation_ends else None,
                images=self.images,
            ),
        )


def _between(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start).total_seconds())  # the database's own clock may be set back
