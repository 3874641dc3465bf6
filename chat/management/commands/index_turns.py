"""Write every turn's searchable words anew."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from chat.models import Run
from chat.search.documents.runs import index_run, index_run_ended
from chat.search.documents.turns import index_turn


class Command(BaseCommand):
    """Rebuild what search reads: after a major upgrade of Postgres, whose English may stem anew."""

    help = "Write every turn's searchable words anew, as a major upgrade of Postgres asks for."

    def handle(self, *_: Any, **__: Any) -> None:
        """Index run by run, each in a transaction of its own, so that it may be interrupted."""
        count = 0
        for run_id in Run.objects.order_by("pk").values_list("pk", flat=True).iterator():
            count += _index(run_id)
        self.stdout.write(f"{count:,} turns can be found.")


@transaction.atomic
def _index(run_id: int) -> int:
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
    if run is None:
        return 0
    turns = list(run.turns.all())
    for turn in turns:
        index_turn(turn)
    if run.is_live:
        index_run(run)
    else:
        index_run_ended(run)
    return len(turns)
