"""Turns as a recorder leaves them, for tests that need the rows and not the run."""

from typing import Any

from chat.models import Action, Run, Turn

OF_ACTION = frozenset({"tool", "inputs", "observation", "error", "ends", "images"})


def store_turn(run: Run, index: int = 0, **fields: Any) -> Turn:
    """Store a turn; `tool`, `inputs`, `observation`, `error`, `ends`, `images` are of one action.

    For several actions store them with `store_action`.
    """
    own = {name: value for name, value in fields.items() if name not in OF_ACTION}
    turn = Turn.objects.create(run=run, index=index, **{"attempt": 1, "kind": "action"} | own)
    if fields.keys() & OF_ACTION:
        store_action(turn, **{name: fields[name] for name in fields.keys() & OF_ACTION})
    return turn


def store_action(turn: Turn, position: int = 0, **fields: Any) -> Action:
    """Store an action of a turn, over and done where it has an observation."""
    times: dict[str, Any] = {"started_at": turn.started_at}
    if fields.get("observation") is not None:
        times["ended_at"] = turn.ended_at
    if fields.get("tool"):
        fields.setdefault("inputs", {})
    return Action.objects.create(turn=turn, position=position, **times | fields)
