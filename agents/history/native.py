"""What a run did by native calls, told to its model as its own calls and their results."""

import re
from collections.abc import Iterator
from typing import Any

from agents.contracts import Message, Role, ToolCall, Turn, Value
from agents.prompting.prompts import conversation, enclosed, enclosed_observation
from agents.state import State

NO_TOOLS = "The model's server takes no tools in a request."
"""The thought of a turn from which on the tools are told in the prompt."""
EMPTY = "(no text)"
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_NAME_LENGTH = 64
_UNNAMED = "unnamed"


class MadeCall(Value):
    """What is remembered of a native call beside its tool and inputs.

    `id` is unique in its run, `kept` what the server wants back as it gave it, `said` what the
    model said before the first call of a reply. `fault` says why the call cannot be carried out.
    """

    id: str
    kept: tuple[dict[str, Any], ...] = ()
    said: str = ""
    fault: str = ""


def made_calls(turn: Turn) -> list[MadeCall]:
    """Return what is remembered of a turn's native calls, in their order."""
    kept = () if turn.thought is None else turn.thought.kept
    return [MadeCall.model_validate(one) for one in kept]


def has_no_tools(state: State) -> bool:
    """Tell whether the model's server has refused a request that offers tools."""
    thoughts = (turn.thought for turn in state.turns)
    return any(thought is not None and thought.text == NO_TOOLS for thought in thoughts)


def offered_name(name: str) -> str:
    """Return a tool's name as all servers take it."""
    return _UNFIT.sub("_", name)[:_NAME_LENGTH] or _UNNAMED


class Telling:
    """Tell a run as messages; those of a turn that is over are made once."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[Turn, list[Message]]] = {}

    def __call__(self, rules: str, state: State, *, sees: bool = False) -> list[Message]:
        """Return the rules, the conversation and the question, then each call with its result.

        Pictures are shown to a model that `sees`, those of the last turn that is over.
        """
        told = conversation(rules, state, f"Question:\n{enclosed('question', state.goal)}")
        done = [turn for turn in state.turns if turn.thought is not None]
        for turn in done[:-1]:
            told += self._of(turn)
        for turn in done[-1:]:
            told += _turn(turn, shows=True) if sees else self._of(turn)
        return told

    def _of(self, turn: Turn) -> list[Message]:
        kept, told = self._told.get(turn.index, (None, []))
        if kept is not turn:
            told = list(_turn(turn, shows=False))
            self._told[turn.index] = turn, told
        return told


def _turn(turn: Turn, *, shows: bool) -> Iterator[Message]:
    calls = made_calls(turn)
    if not calls:
        yield from _corrected(turn)
        return
    for made, call in zip(calls, turn.calls, strict=False):
        yield _message(Role.TOOL_REQUEST, made.said, made, call, kept=made.kept)
    for made, call, action in zip(calls, turn.calls, turn.actions, strict=False):
        seen = action.observation
        content = "" if seen is None else enclosed_observation(seen)
        images = seen.images if shows and seen is not None else ()
        yield _message(Role.TOOL_RESULT, content, made, call, images=images)


def _message(role: Role, content: str, made: MadeCall, call: ToolCall, **more: Any) -> Message:
    if (name := offered_name(call.tool)) != call.tool:
        call = call.model_copy(update={"tool": name})
    return Message(role=role, content=content, call=call, call_id=made.id, **more)


def _corrected(turn: Turn) -> Iterator[Message]:
    """Tell a reply that came to nothing, and what was said to it."""
    said = turn.thought.text if turn.thought is not None else ""
    yield Message(role=Role.ASSISTANT, content=said.strip() or EMPTY)
    for seen in turn.observations:
        yield Message(role=Role.USER, content=seen.text)
