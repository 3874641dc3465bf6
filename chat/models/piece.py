"""A piece of what models were sent: many requests of a run have it, and it is stored once."""

from datetime import datetime

from django.db import models

from chat.models.run import Run
from chat.request import piece_digest


class Piece(models.Model):
    """A part of one request or more of a run, known by a digest of its text as it was sent.

    Where the text was redacted, `redacted_at` says so; the digest stays, for requests name it.
    `space_id` is the run's.
    """

    pk = models.CompositePrimaryKey("run", "digest")
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="pieces", editable=False, db_index=False
    )
    space_id = models.BigIntegerField(editable=False)
    digest = models.UUIDField(editable=False)
    text = models.TextField(editable=False)
    redacted_at = models.DateTimeField(null=True, editable=False)

    def __str__(self) -> str:
        return f"Piece {self.digest.hex} of run {self.run_id}"

    @property
    def is_as_sent(self) -> bool:
        """Tell whether the text is that of the digest."""
        return piece_digest(self.text) == self.digest.hex

    def redacted(self, text: str, at: datetime) -> "Piece":
        """Return the piece with another text in the place of what was sent; nothing is written."""
        return Piece(run_id=self.run_id, digest=self.digest, text=text, redacted_at=at)
