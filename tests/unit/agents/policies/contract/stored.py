"""What is known of a run: what a crash leaves of it, and what its actions observed."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts import Observation, ThoughtKind, Turn
from agents.events import (
    ActionsProposed,
    Event,
    ModelCalled,
    Observed,
    ThoughtCompleted,
    TurnCompleted,
)
from agents.state import State


def observations(state: State) -> list[Observation | None]:
    """Return what came back from each action of a run."""
    actions = (action for turn in state.turns for action in turn.actions)
    return [action.observation for action in actions if action.call is not None]


@dataclass
class Stored:
    """What is left of a run after a crash, and how many calls need not be made again."""

    turns: list[Turn]
    is_open: bool
    calls: int
    completed: int
    events: int


def all_of_it(events: Sequence[Event]) -> Stored:
    """Keep every event that was seen."""
    state, calls, made = State("Q?"), 0, 0
    for event in events:
        state.apply(event)
        made += isinstance(event, ModelCalled)
        if isinstance(event, ThoughtCompleted | ActionsProposed | Observed | TurnCompleted):
            calls = made
    completed = sum(isinstance(event, TurnCompleted) for event in events)
    return Stored(state.turns, state.is_open, calls, completed, len(events))


def turns_and_proposals(events: Sequence[Event]) -> Stored:
    """Keep complete turns, and the open one once its action is stored, as the recorder does."""
    kept, state = 0, State("Q?")
    for number, event in enumerate(events, start=1):
        state.apply(event)
        wants_a_tool = isinstance(event, ThoughtCompleted) and (
            event.node.kind is ThoughtKind.ACTION and not event.node.calls
        )
        if isinstance(event, TurnCompleted | ActionsProposed) or wants_a_tool:
            kept = number
    return all_of_it(events[:kept])
