"""The text format's memory of a run: a text that only grows, so that requests share a prefix."""

import json
from collections.abc import Callable
from typing import Any

from agents.contracts import Thought, ToolCall, Turn
from agents.errors import ToolError, ToolNotFound
from agents.prompting.prompts import enclosed_observation
from agents.state import State
from agents.text import clipped
from agents.tools.toolkit import Toolkit

_THOUGHT_LIMIT = 4_000


def scratchpad(state: State, toolkit: Toolkit) -> str:
    """Write what was thought, done and seen so far, up to where the model goes on."""
    return _told(state, lambda call: f"{call.tool}\nAction Input: {input_text(call, toolkit)}")


def json_scratchpad(state: State) -> str:
    """Write the same with each action as one JSON object, as the model wrote it."""
    return _told(state, action_json)


def action_json(call: ToolCall) -> str:
    """Write an action as JSON, the same one always alike."""
    tool = json.dumps(call.tool, ensure_ascii=False)
    return f'{{"tool": {tool}, "inputs": {_sorted(call.inputs)}}}'


def _told(state: State, written: Callable[[ToolCall], str]) -> str:
    done = [_turn(turn, turn.thought, written) for turn in state.turns if turn.thought is not None]
    return "".join(done) + "\nThought: "


def _turn(turn: Turn, thought: Thought, written: Callable[[ToolCall], str]) -> str:
    lines = [f"\nThought: {clipped(thought.text, _THOUGHT_LIMIT)}"]
    for action in turn.actions:
        if action.call is None and action.observation is not None:
            # The reply broke the format. It is not shown to the model, which would take it up.
            return f"\n{action.observation.text}"
        if action.call is not None:
            lines.append(f"Action: {written(action.call)}")
        if action.observation is not None:
            lines.append(f"Observation:\n{enclosed_observation(action.observation)}")
    return "\n".join(lines)


def input_text(call: ToolCall, toolkit: Toolkit) -> str:
    """Write an action's inputs as the model would: plain text where the tool reads it so."""
    inputs: dict[str, Any] = call.inputs
    if len(inputs) == 1:
        (only,) = inputs.values()
        if isinstance(only, str) and _reads_plain(call, only, toolkit):
            return only
    return _sorted(inputs)


def _sorted(inputs: dict[str, Any]) -> str:
    return json.dumps(inputs, ensure_ascii=False, sort_keys=True)  # the store keeps no order


def _reads_plain(call: ToolCall, text: str, toolkit: Toolkit) -> bool:
    try:
        tool = toolkit.get(call.tool)
        return toolkit.inputs_from_text(tool, text) == call.inputs
    except ToolNotFound:
        return True
    except ToolError:
        return False
