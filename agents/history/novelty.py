"""Whether a step brought anything new: judged by what was called and by what came back of it.

A call with the same inputs that comes back with the same is nothing new, whenever it was made
before. What a tool says back of its own inputs, and the time of day, are nothing new either.
"""

import re
from collections.abc import Iterable, Sequence

from agents.contracts import Action, Observation, Turn

_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?\b")


def is_stale(turns: Sequence[Turn], at: int) -> bool:
    """Tell whether all that the turn at a place did was done before, and came back the same."""
    turn = turns[at]
    return bool(turn.calls) and any(is_same_step(turn, earlier) for earlier in turns[:at])


def stale_row(turns: Sequence[Turn], most: int) -> int:
    """Return how many of the last turns, up to `most`, brought nothing new."""
    row = 0
    for at in range(len(turns) - 1, max(-1, len(turns) - 1 - most), -1):
        if not is_stale(turns, at):
            break
        row += 1
    return row


def is_same_step(one: Turn, other: Turn) -> bool:
    """Tell whether two turns called the same, and the same came back."""
    if one.calls != other.calls:
        return False
    pairs = zip(one.actions, other.actions, strict=False)
    return len(one.actions) == len(other.actions) and all(
        _came_back(mine) == _came_back(theirs) for mine, theirs in pairs
    )


def is_one_view(actions: Iterable[Action]) -> bool:
    """Tell whether calls with inputs of any kind all came back with the same."""
    views = [_came_back(action) for action in actions]
    return all(view == views[0] for view in views)


def _came_back(action: Action) -> tuple[str, ...]:
    """Return what came back, without what the call itself said; of a failure only its kind."""
    seen = action.observation
    if seen is None:
        return ("nothing yet",)
    if seen.error is not None:
        return ("failed", seen.error)
    return ("seen", _told(action, seen), *(image.data for image in seen.images))


def _told(action: Action, seen: Observation) -> str:
    told = _CLOCK.sub("", seen.text)
    given = () if action.call is None else action.call.inputs.values()
    echoes = {str(value) for value in given if isinstance(value, str | int | float)}
    for echo in sorted(filter(str.strip, echoes), key=len, reverse=True):
        told = re.sub(rf"(?<!\w){re.escape(echo)}(?!\w)", "", told)
    return " ".join(told.split())
