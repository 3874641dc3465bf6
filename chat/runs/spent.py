"""What a run has spent on models by now, all its attempts and failed calls included."""

from typing import NamedTuple

from django.db.models import F, IntegerField, Sum
from django.db.models.functions import Cast, Coalesce, Length

from agents.model.tokens import BYTES_PER_TOKEN
from chat.models import ModelCall, Run


class Spent(NamedTuple):
    """Tokens that models were given, and tokens that they made."""

    given: int = 0
    made: int = 0


def spent(run: Run) -> Spent:
    """Return what the stored calls come to; one that no server counted, by its length."""
    asked = (F("shared") + Length("rest")) / BYTES_PER_TOKEN
    said = (Length("reply") + Length("reasoning")) / BYTES_PER_TOKEN
    sums = ModelCall.objects.filter(run=run).aggregate(
        given=Sum(Coalesce("input_tokens", Cast(asked, IntegerField()))),
        made=Sum(Coalesce("output_tokens", Cast(said, IntegerField()))),
    )
    return Spent(sums["given"] or 0, sums["made"] or 0)
