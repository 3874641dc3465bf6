"""An action: one call of a tool within a turn, and what came back of it."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from agents import contracts
from agents.text import clipped
from chat.artifacts.store import ArtifactLost, ArtifactsAway, content_of
from chat.models.artifact import Artifact
from chat.models.ordered_json import OrderedJSONField
from chat.models.turn import Turn, between

if TYPE_CHECKING:
    from chat.models.approval import Approval


ENDS = 16_000
"""Characters of a very long observation that its row keeps, half of them from its end."""


class Action(models.Model):
    """A stored action; `position` is its place among those of its turn, from 0.

    The row is written before the tool runs; `observation` is None until something came back, and
    stays so where another action of the turn ended the run. Without a `tool` it is a reply that
    came to no action, and the observation says so. Of a very long observation the row has the head
    and the tail, its `whole_length` in characters, and in `whole` what the artifact with all of it
    is known by. `images` are the pictures that came back, each as its media type with the `sha256`
    of its artifact or, where there is none, with the picture itself in base64. `brings` are the
    artifacts that the row is stored with. `started_at` is when the tool began; of an
    action that has no end it is there only where it was approved. `approval` is there once
    `Approval.objects.attach` has looked for it. Of a run that was not worked on here, times may be
    unknown: None, never a guess. `space_id` is the run's.
    """

    approval: "Approval | None" = None
    brings: Sequence[Artifact] = ()
    _whole: str | None = None

    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="stored_actions", db_index=False
    )
    space_id = models.BigIntegerField(editable=False)
    position = models.PositiveSmallIntegerField()
    tool = models.CharField(max_length=120, blank=True)
    inputs = OrderedJSONField(null=True, blank=True)
    observation = models.TextField(null=True, blank=True)  # noqa: DJ001 - None: nothing came back yet
    whole = models.CharField(max_length=64, blank=True, default="", db_default="")
    whole_length = models.PositiveIntegerField(null=True, blank=True)
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
            models.CheckConstraint(
                name="action_whole_has_its_length",
                condition=Q(whole="", whole_length__isnull=True)
                | (~Q(whole="") & Q(whole_length__isnull=False)),
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
        """Return the pictures that came back with the observation.

        Raises ArtifactsAway or ArtifactLost.
        """
        return tuple(map(_picture, self.images or ()))

    @property
    def digests(self) -> set[str]:
        """Return what the artifacts that the row names are known by."""
        pictures = (image.get("sha256") for image in self.images or ())
        return set(filter(None, (self.whole, *pictures)))

    @property
    def text(self) -> str:
        """Return the whole observation, "" without one; raises ArtifactsAway or ArtifactLost."""
        if not self.whole:
            return self.observation or ""
        return content_of(self.whole).decode() if self._whole is None else self._whole

    @property
    def text_at_hand(self) -> str:
        """Return the whole observation, or where that is out of reach what the row has."""
        try:
            return self.text
        except (ArtifactsAway, ArtifactLost):
            return self.observation or ""

    @property
    def ends_of_text(self) -> tuple[str, str, int]:
        """Return head and tail of a very long observation, and how much is between: characters."""
        row, half = self.observation or "", ENDS // 2
        return row[:half], row[-half:], (self.whole_length or 0) - 2 * half

    def shorten(self, whole: str) -> None:
        """Keep of the observation the head and the tail, for the artifact `whole` has all of it."""
        self._whole = text = self.text
        self.whole, self.whole_length = whole, len(text)
        self.observation = clipped(text, ENDS)

    @property
    def seconds(self) -> float | None:
        """Return how long the tool took; None without one or while it runs."""
        if self.started_at is None or self.ended_at is None:
            return None
        return between(self.started_at, self.ended_at)

    def as_contract(self) -> contracts.Action:
        """Return the engine's value of this action, for replay.

        Raises ArtifactsAway or ArtifactLost.
        """
        observation = None
        if self.observation is not None:
            observation = contracts.Observation(
                text=self.text,
                error=self.error or None,
                ends=contracts.EndReason(self.ends) if self.ends else None,
                images=self.pictures,
            )
        call = contracts.ToolCall(tool=self.tool, inputs=self.inputs) if self.tool else None
        return contracts.Action(call=call, observation=observation)


def _picture(image: Mapping[str, str]) -> contracts.Image:
    data = image.get("data")
    if data is None:
        data = b64encode(content_of(image["sha256"])).decode()
    return contracts.Image(media_type=image["media_type"], data=data)
