"""Several tries at one goal within a run, parted by turns that hold a lesson."""

from collections.abc import Sequence
from dataclasses import replace

from agents.contracts import Thought, ThoughtKind, Turn
from agents.state import State

_KEY = "lesson_of_try"


def lesson(text: str, number: int) -> Thought:
    """Return the thought that ends try `number`, counted from 1."""
    return Thought(kind=ThoughtKind.THOUGHT, text=text, plan={_KEY: number})


def lessons(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns that hold lessons."""
    return [turn for turn in turns if _is_lesson(turn)]


def last_try(state: State) -> State:
    """Return the run as if it had begun with its last try."""
    start = next((n for n in range(len(state.turns), 0, -1) if _is_lesson(state.turns[n - 1])), 0)
    return replace(state, turns=state.turns[start:])


def _is_lesson(turn: Turn) -> bool:
    plan = None if turn.thought is None else turn.thought.plan
    return plan is not None and _KEY in plan
