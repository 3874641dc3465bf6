"""An action: one call of a tool within a turn, and what came back of it."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from agents import contracts
from chat.models.ordered_json import OrderedJSONField
from chat.models.turn import Turn, between

if TYPE_CHECKING:
    from chat.models.approval import Approval


class Action(models.Model):
    """A stored action; `position` is its place among those of its turn, from 0.

    The row is written before the tool runs; `observation` is None until something came back, and
    stays so where another action of the turn ended the run. Without a `tool` it is a reply that
    came to no action, and the observation says so. `started_at` is when the tool began; of an
    action that has no end it is there only where it was approved. `approval` is there once
    `Approval.objects.attach` has looked for it. Of a run that was not worked on here, times may be
    unknown: None, never a guess. `space_id` is the run's.
    """

    approval: "Approval | None" = None

    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="stored_actions", db_index=False
    )
    space_id = models.BigIntegerField(editable=False)
    position = models.PositiveSmallIntegerField()
    tool = models.CharField(max_length=120, blank=True)
    inputs = OrderedJSONField(null=True, blank=True)
    observation = models.TextField(null=True, blank=True)  # noqa: DJ001 - None: nothing came back yet
    error = models.CharField(max_length=60, blank=True, default="", db_default="")
    ends = models.CharField(max_length=24, blank=True, default="", db_default="")
    images = models.JSONField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["turn_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "position"], name="one_action_per_position"),
            models.CheckConstraint(
                name="action_tool_iff_inputs",
                condition=Q(tool="", inputs__isnull=True) | (~Q(tool="") & Q(inputs__isnull=False)),
            ),
            models.CheckConstraint(
                name="action_ended_is_observed",
                condition=Q(ended_at__isnull=True) | Q(observation__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"Action {self.number} of {self.turn}"

    @property
    def number(self) -> int:
        """Return the action's number within its turn as people count, from 1."""
        return self.position + 1

    @property
    def pictures(self) -> tuple[contracts.Image, ...]:
        """Return the pictures that came back with the observation."""
        return tuple(map(contracts.Image.model_validate, self.images or ()))

    @property
    def seconds(self) -> float | None:
        """Return how long the tool took; None without one or while it runs."""
        if self.started_at is None or self.ended_at is None:
            return None
        return between(self.started_at, self.ended_at)

    def as_contract(self) -> contracts.Action:
        """Return the engine's value of this action, for replay."""
        observation = None
        if self.observation is not None:
            observation = contracts.Observation(
                text=self.observation,
                error=self.error or None,
                ends=contracts.EndReason(self.ends) if self.ends else None,
                images=self.pictures,
            )
        call = contracts.ToolCall(tool=self.tool, inputs=self.inputs) if self.tool else None
        return contracts.Action(call=call, observation=observation)
