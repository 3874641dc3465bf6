"""The runs that answered the question of another one again, under other policies."""

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse

from chat.models import Run

MOST = 20


@dataclass(frozen=True)
class Repeat:
    """Another run with the same question, and where both stand side by side, the older first."""

    run: Run
    url: str


def repeats_of(run: Run) -> list[Repeat]:
    """Return the newest runs that asked again what `run` asked, or what it asked again itself.

    All of them are in one conversation, so who may read one may read the others.
    """
    first = run.again_of_id or run.pk
    others = Run.objects.filter(Q(again_of=first) | Q(again_of=run) | Q(pk=first))
    others = others.exclude(pk=run.pk).select_related("policy_version__policy")
    return [
        Repeat(other, reverse("comparison", args=sorted((run.pk, other.pk))))
        for other in others.order_by("-pk")[:MOST]
    ]
