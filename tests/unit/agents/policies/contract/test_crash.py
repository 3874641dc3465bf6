"""What every policy promises after a crash at any moment: the same result, and no call twice."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agents.events import ActionsProposed, ActionStarted, Event, RunEnded, TurnCompleted
from agents.policies import POLICIES
from agents.state import State
from tests.unit.agents.policies.contract.scripts import TELL, Entry, script
from tests.unit.agents.policies.contract.stored import (
    Stored,
    all_of_it,
    observations,
    turns_and_proposals,
)


@pytest.mark.parametrize("store", [all_of_it, turns_and_proposals])
def test_a_crash_at_any_event_changes_nothing_in_the_end(
    case: tuple[Any, list[Entry], int], store: Callable[[Sequence[Event]], Stored]
) -> None:
    stage, said, turns = case
    whole = stage.play(said, max_turns=turns)

    for moment in range(len(whole.events)):
        stored = store(whole.events[:moment])
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        events = list(stage.events(said, state, max_turns=turns, position=stored.calls))
        assert (state.turns, state.outcome) == (whole.state.turns, whole.state.outcome)
        completed = sum(isinstance(event, TurnCompleted) for event in events)
        assert stored.completed + completed == len(whole.state.turns)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_answered_run_is_only_closed(policy: str, stage: Callable[[str], Any]) -> None:
    whole = stage(policy).play(script(policy, "answered"), max_turns=9)

    again = stage(policy).play(state=State("Q?", turns=whole.state.turns))

    assert again.events == [RunEnded(outcome=whole.outcome)]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_call_that_may_not_be_made_twice_is_not(policy: str, stage: Callable[[str], Any]) -> None:
    said = TELL[policy]
    events = stage(policy).play(said).events
    proposed = next(n for n, event in enumerate(events) if isinstance(event, ActionsProposed))
    stored = all_of_it(events[: proposed + 1])

    state = State("Q?", turns=stored.turns, is_open=stored.is_open)
    again = list(stage(policy).events(said, state, position=stored.calls))

    assert not any(isinstance(event, ActionStarted) for event in again)
    (observation,) = observations(state)
    assert observation is not None
    assert observation.error == "Interrupted"
    assert state.outcome is not None
    assert state.outcome.answer == "a"
