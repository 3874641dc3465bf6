"""The rows of a turn from the engine's values, with what storing does to their texts."""

from collections.abc import Iterable

from agents import contracts
from agents.contracts import Observation, Thought, ThoughtKind, ToolCall
from agents.text import storable
from chat.models import Action, Turn
from chat.runs.stored_json import storable_json

_NO_THOUGHT = Thought(kind=ThoughtKind.THOUGHT, text="")


def set_thought(turn: Turn, node: Thought) -> None:
    """Fill in what was thought; the turn's calls are its actions."""
    turn.kind = node.kind
    turn.thought = storable(node.text)
    turn.answer = storable(node.answer)
    turn.plan = None if node.plan is None else storable_json(node.plan)
    turn.kept = [storable_json(one) for one in node.kept] or None


def set_calls(turn: Turn, calls: Iterable[ToolCall]) -> None:
    """Give the turn the actions that were proposed."""
    turn.actions = [_action(turn, position, call) for position, call in enumerate(calls)]


def set_observation(turn: Turn, observation: Observation, position: int | None = None) -> Action:
    """Fill in what came back from an action, the open one by itself, or without one; return it."""
    action = turn.open_action if position is None else turn.actions[position]
    if action is None:
        action = _action(turn, len(turn.actions), None)
        turn.actions.append(action)
    action.observation = storable(observation.text)
    action.error = (observation.error or "")[:60]
    action.ends = observation.ends or ""
    action.images = [image.model_dump() for image in observation.images] or None
    return action


def as_stored(value: contracts.Turn) -> contracts.Turn:
    """Return the turn as it would be read back."""
    turn = Turn(index=value.index)
    turn.actions = []
    set_thought(turn, value.thought or _NO_THOUGHT)
    for position, done in enumerate(value.actions):
        turn.actions.append(_action(turn, position, done.call))
        if done.observation is not None:
            set_observation(turn, done.observation)
    return turn.as_contract()


def _action(turn: Turn, position: int, call: ToolCall | None) -> Action:
    action = Action(turn=turn, position=position)
    if call is not None:
        action.tool = storable(call.tool)[:120] or "?"
        action.inputs = storable_json(call.inputs)
    return action
