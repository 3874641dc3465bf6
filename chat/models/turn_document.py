"""What search reads of a turn: one narrow row, with what its own filters need beside the words."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q

from chat.models.run_document import RunDocument
from chat.models.turn import Turn


class TurnDocument(models.Model):
    """The searchable words of a turn; written with the turn itself, and with its end once more.

    Nothing in it changes when the run ends: what is the run's own is in the run's document.
    `space_id` is a plain bigint so that one GIN index serves space and words together. `at` is when
    the run was, by which turns are in order; of turns that were indexed before it was kept it is
    the beginning of 1970, and their numbers are their order. `tool` is the first that the turn
    called, `other_tools` are those that a turn of several actions called beside it. `is_cut` says
    that the turn held more text than is indexed. In `words` those of question and answer weigh A,
    thought and plan B, the action C, the observation and why the run ended D.
    """

    turn = models.OneToOneField(
        Turn, primary_key=True, on_delete=models.CASCADE, related_name="document"
    )
    run_document = models.ForeignKey(
        RunDocument,
        db_column="run_id",
        db_constraint=False,
        db_index=False,
        on_delete=models.DO_NOTHING,
        related_name="turn_documents",
    )
    space_id = models.BigIntegerField()
    kind = models.CharField(max_length=8)
    at = models.DateTimeField()
    tool = models.CharField(max_length=120, blank=True)
    other_tools = ArrayField(models.CharField(max_length=120), null=True, blank=True)
    has_error = models.BooleanField(default=False)
    is_cut = models.BooleanField(default=False)
    words = SearchVectorField()

    class Meta:
        indexes = [
            GinIndex(fields=["space_id", "words"], name="turn_space_words"),
            models.Index(fields=["run_document", "turn"], name="turn_of_run"),
            models.Index(fields=["at", "turn"], name="turn_newest"),
            models.Index(fields=["space_id", "at", "turn"], name="turn_space_newest"),
            models.Index(fields=["tool", "at", "turn"], name="turn_tool_newest"),
            GinIndex(
                fields=["other_tools"],
                name="turn_other_tools",
                condition=Q(other_tools__isnull=False),
            ),
            models.Index(
                fields=["at", "turn"], name="turn_error_newest", condition=Q(has_error=True)
            ),
        ]

    def __str__(self) -> str:
        return f"Document of turn {self.turn_id}"
