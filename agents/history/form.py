"""Whether a model keeps to the form that its policy asks for."""

from agents.contracts import Turn
from agents.errors import ErrorKind
from agents.reading.node_reply import UNREADABLE
from agents.state import State

TIMES = 3
"""Replies in a row without a step, after which the model does not keep to the form."""


def is_unread(turn: Turn) -> bool:
    """Tell whether the turn's reply was no step, of which the model is told."""
    if turn.thought is not None and turn.thought.text.startswith(UNREADABLE) and not turn.calls:
        return True
    seen = turn.last_observation
    return not turn.calls and seen is not None and seen.error == ErrorKind.PARSE_ERROR


def is_out_of_form(state: State) -> bool:
    """Tell whether the last replies were no steps."""
    last = state.turns[-TIMES:]
    return len(last) == TIMES and all(map(is_unread, last))
