"""What search and lists read of a run: one narrow row, with what narrows runs beside the words."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q

from chat.models.run import Run


class RunDocument(models.Model):
    """A run as it is found; written when it is asked, when a model begins on it and when it ends.

    `status` is queued, running, or how the run ended: whether a live one waits or is interrupted
    only the run itself says. `reason`, `has_error`, `turns`, `tokens` and `seconds` are those of a
    run that has ended; it has an error when it failed, or one of its actions did. `at` is when it
    was: the source's own date, else when it was asked. In `words` those of the question weigh A,
    the answer B, why it ended C, the conversation's title D.
    """

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.CASCADE, related_name="document"
    )
    space_id = models.BigIntegerField()
    kind = models.CharField(max_length=8)
    policy = models.CharField(max_length=50)
    version = models.PositiveIntegerField()
    model = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=12)
    reason = models.CharField(max_length=24, blank=True)
    has_error = models.BooleanField(default=False)
    turns = models.PositiveIntegerField(null=True, blank=True)
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    at = models.DateTimeField()
    words = SearchVectorField()

    class Meta:
        indexes = [
            GinIndex(fields=["space_id", "words"], name="run_space_words"),
            models.Index(fields=["space_id", "at"], name="run_space_newest"),
            models.Index(fields=["policy", "at"], name="run_policy_newest"),
            models.Index(fields=["model", "at"], name="run_model_newest"),
            models.Index(fields=["status", "at"], name="run_status_newest"),
            models.Index(fields=["at"], name="run_error_newest", condition=Q(has_error=True)),
        ]

    def __str__(self) -> str:
        return f"Document of run {self.run_id}"
