"""How many model calls in a row came to no step that was carried out: counted from the turns alone.

It counts for policies whose act asks the model, too: for a tool, and for its inputs.
"""

from collections.abc import Sequence

from agents.contracts import Turn
from agents.errors import ErrorKind

MOST = 7
"""Calls that may come to nothing; with the one for the best partial answer a question takes 8."""
FILLS = 3
"""How often the inputs of one step are asked for."""


def fruitless_calls(turns: Sequence[Turn], most: int = MOST) -> int:
    """Return the calls since the last step that was carried out, those of the open turn included.

    Of a turn whose inputs never fitted it is what `fills` left it, so that a replay counts alike.
    """
    count = 0
    for turn in turns:
        if turn.calls:
            count = 0
            continue
        if turn.thought is not None:
            count += 1
        error = turn.last_observation.error if turn.last_observation is not None else None
        if error in (ErrorKind.TOOL_SELECTION_ERROR, ErrorKind.INVALID_INPUTS):
            tries = fills(most - count) if error == ErrorKind.INVALID_INPUTS else 0
            count += 1 + tries
    return count


def fills(left: int) -> int:
    """Return how often inputs may be asked for where so many calls are left, a choice before."""
    return max(1, min(FILLS, left - 1))


def is_unfilled(turn: Turn) -> bool:
    """Tell whether the turn named a step for which no tool with its inputs was found."""
    seen = turn.last_observation
    kinds = (ErrorKind.TOOL_SELECTION_ERROR, ErrorKind.INVALID_INPUTS)
    return not turn.calls and seen is not None and seen.error in kinds
