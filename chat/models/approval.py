"""An approval: a person's yes or no to one risky action, asked for and answered once."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q

from chat.models.ordered_json import OrderedJSONField
from chat.models.run import Run
from chat.models.turn import Turn
from chat.models.user import User


class ApprovalStatus(models.TextChoices):
    """What became of the question; only a pending one can still be answered."""

    PENDING = "pending", "waits for an answer"
    GRANTED = "granted", "allowed"
    DENIED = "denied", "not allowed"
    EXPIRED = "expired", "not answered in time"
    WITHDRAWN = "withdrawn", "not needed any more"


class ApprovalManager(models.Manager["Approval"]):
    """Approvals, and the actions that they are of."""

    def attach(self, turns: Iterable[Turn]) -> list[Turn]:
        """Return the turns, their actions each with `approval` or None, in one query for all."""
        turns = list(turns)
        runs = {turn.run_id for turn in turns if turn.tools}
        rows = self.filter(run__in=runs).select_related("decided_by") if runs else ()
        approvals = {(row.run_id, row.turn_index, row.position): row for row in rows}
        for turn in turns:
            for action in turn.actions:
                action.approval = approvals.get((turn.run_id, turn.index, action.position))
        return turns


class Approval(models.Model):
    """The question whether one action may run, with exactly what it would be called with.

    `position` is the action's place in its turn.
    The run is held by nobody while it waits. After `expires_at` silence is a no. `why` says what
    made it ask beside the tool's own risk. `feedback` is what the person wants the model to know.
    `space_id` is the run's.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="approvals")
    space_id = models.BigIntegerField(editable=False)
    turn_index = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField(default=0, db_default=0)
    tool = models.CharField(max_length=120)
    inputs = OrderedJSONField()
    safety = models.CharField(max_length=12)
    why = models.CharField(max_length=500, blank=True, default="", db_default="")

    status = models.CharField(max_length=12, choices=ApprovalStatus, default=ApprovalStatus.PENDING)
    feedback = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="approvals"
    )

    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ApprovalManager()

    class Meta:
        ordering = ["run", "turn_index", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "turn_index", "position"], name="one_approval_per_action"
            ),
            models.CheckConstraint(
                name="approval_status_is_known", condition=Q(status__in=ApprovalStatus.values)
            ),
            models.CheckConstraint(
                name="approval_decided_at_iff_decided",
                condition=Q(status="pending", decided_at__isnull=True)
                | (~Q(status="pending") & Q(decided_at__isnull=False)),
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"], name="approval_pending", condition=Q(status="pending")
            ),
        ]

    def __str__(self) -> str:
        return f"Approval of {self.tool} in run {self.run_id}"

    @property
    def is_pending(self) -> bool:
        """Tell whether it can still be answered."""
        return self.status == ApprovalStatus.PENDING
