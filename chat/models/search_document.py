"""What search reads: one narrow row a turn, with everything a filter needs beside the words."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from chat.models.turn import Turn


class SearchDocument(models.Model):
    """The searchable words of a turn; written by the recorder with the turn itself.

    `owner_id` is a plain bigint so that one GIN index serves owner and words together.
    `is_cut` says that the turn held more text than is indexed.
    """

    turn = models.OneToOneField(
        Turn, primary_key=True, on_delete=models.CASCADE, related_name="search_document"
    )
    owner_id = models.BigIntegerField()
    run_id = models.BigIntegerField()
    policy = models.CharField(max_length=50)
    tool = models.CharField(max_length=120, blank=True)
    status = models.CharField(max_length=12)
    is_cut = models.BooleanField(default=False)
    words = SearchVectorField()

    class Meta:
        indexes = [
            GinIndex(fields=["owner_id", "words"], name="search_owner_words"),
            models.Index(fields=["owner_id", "turn"], name="search_owner_newest"),
            models.Index(fields=["tool", "turn"], name="search_tool_newest"),
        ]

    def __str__(self) -> str:
        return f"Search document of turn {self.turn_id}"
