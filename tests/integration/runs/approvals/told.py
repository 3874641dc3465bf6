"""What a run that waits has done, and what its stream tells."""

import json
from typing import Any

from chat.models import Action, Run, Turn
from chat.stream.deferred import deferred
from chat.stream.streams import run_key
from tests.integration.here import here


def last(run: Run) -> Turn:
    return run.turns.latest("index")


def first_action(run: Run) -> Action:
    """Return the one action of the run's first turn."""
    return run.turns.get(index=0).stored_actions.get()


def told(run: Run, valkey: Any) -> list[dict[str, Any]]:
    """Return all events that the run's stream tells."""
    here().publisher.flush(10)
    deferred().flush(10)
    entries = valkey.xrange(run_key(run.pk))
    return [event for _, fields in entries for event in json.loads(fields[b"d"])]


def last_of(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return [event for event in events if event["type"] == kind][-1]
