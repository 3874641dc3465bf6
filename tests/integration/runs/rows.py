"""What a test finds in the row of a run, and an action that it leaves there."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from chat.models import Run
from tests.stored_turns import store_action, store_turn


def act_in(run: Run) -> None:
    """Store an action that the run is at."""
    turn = store_turn(run, thought="go", started_at=timezone.now())
    store_action(turn, tool="calculator", inputs={"expression": "6 * 7"}, started_at=None)
    run.model_calls.create(
        index=0,
        turn_index=0,
        attempt=1,
        purpose="think",
        provider="scripted",
        model="scripted",
        digest="",
        started_at=timezone.now(),
        seconds=0,
    )


def seen(run: Run, **fields: Any) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run.pk, **fields).exists()
