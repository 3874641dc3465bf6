"""What a run has spent on models by now, all its attempts and failed calls included."""

from typing import NamedTuple

from django.db.models import F, IntegerField
from django.db.models.functions import Cast, Coalesce, Length

from agents.model.tokens import BYTES_PER_TOKEN
from chat.models import ModelCall, Run


class Spent(NamedTuple):
    """Tokens that a model was given in one call, and tokens that it made."""

    given: int
    made: int


def spent(run: Run) -> list[Spent]:
    """Return what each stored call comes to; one that no server counted, by its length."""
    asked = (F("shared") + Length("rest")) / BYTES_PER_TOKEN
    said = (Length("reply") + Length("reasoning")) / BYTES_PER_TOKEN
    calls = ModelCall.objects.filter(run=run).values_list(
        Coalesce("input_tokens", Cast(asked, IntegerField())),
        Coalesce("output_tokens", Cast(said, IntegerField())),
    )
    return [Spent(*call) for call in calls]
