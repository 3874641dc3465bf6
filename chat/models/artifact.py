"""An artifact: what is too big for a row, such as a picture; its content is a file of its own."""

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from chat.artifacts.store import content_of
from chat.models.run import Run
from chat.models.turn import Turn


class Artifact(models.Model):
    """A named content of a run, of one of its turns or of none.

    The content is in the store of artifacts, where `sha256` (hexadecimal) is what it is known by:
    once, also where several artifacts have the same. It is written before the row and goes after
    the last row; `given` is that of a new one. `size` is in bytes. `space_id` is the run's.
    """

    given: bytes

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="artifacts", db_index=False, editable=False
    )
    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="artifacts", null=True, editable=False
    )
    space_id = models.BigIntegerField(editable=False)
    name = models.CharField(max_length=200, editable=False)
    media_type = models.CharField(max_length=100, editable=False)
    size = models.PositiveBigIntegerField(editable=False)
    sha256 = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "sha256", "name"], name="one_artifact_per_content_and_name"
            ),
        ]
        indexes = [models.Index(fields=["sha256"], name="artifact_sha256")]

    def __str__(self) -> str:
        return f"Artifact {self.name} of run {self.run_id}"

    def get_absolute_url(self) -> str:
        """Return where the artifact is downloaded from."""
        return reverse("artifact", args=[self.run_id, self.sha256, self.name])

    @property
    def content(self) -> bytes:
        """Return the content as it was stored; raises ArtifactsAway or ArtifactLost."""
        return content_of(self.sha256)


class Stray(models.Model):
    """A content in the store of artifacts that may have no row, to be looked at from `until` on.

    There is one before a content is written, and the database makes one where a row of an artifact
    is deleted. Who writes or deletes the content holds this row.
    """

    sha256 = models.CharField(max_length=64, primary_key=True, editable=False)
    until = models.DateTimeField(editable=False, db_index=True)

    def __str__(self) -> str:
        return f"Stray {self.sha256}"
