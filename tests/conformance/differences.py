"""What an area says of a run or a value that is not what was expected."""

from agents.contracts import Outcome
from agents.state import State


def outcome_of(state: State) -> Outcome:
    """Return how a run ended, which it must have."""
    assert state.outcome is not None, "the run has no end"
    return state.outcome


def difference(found: object, expected: object) -> str:
    """Write what was found beside what was expected."""
    return f"{found!r}, expected {expected!r}"
