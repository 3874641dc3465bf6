"""What every policy does once its run may spend nothing more."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, ModelCall, Status
from agents.events import ModelCalled, TurnCompleted
from agents.state import State
from tests.unit.agents.policies.contract.scripts import SCRIPTS
from tests.unit.agents.policies.contract.stored import turns_and_proposals

BEST = "the best so far"
SPENT = [(policy, calls) for policy in SCRIPTS for calls in range(1, len(SCRIPTS[policy]))]
"""Each policy, and after how many calls of its script nothing is left to spend."""


class Calls:
    """A budget that counts calls."""

    used = "The run's budget is used up."

    def __init__(self, most: int) -> None:
        self._left = most

    @property
    def is_used_up(self) -> bool:
        return self._left <= 0

    def count(self, call: ModelCall) -> None:
        self._left -= 1


@pytest.mark.parametrize(("policy", "calls"), SPENT)
def test_a_used_up_budget_leaves_one_call_for_the_best_answer(
    policy: str, calls: int, stage: Callable[[str], Any]
) -> None:
    said = [*SCRIPTS[policy][:calls], BEST]

    played = stage(policy).play(said, max_turns=9, budget=Calls(calls))

    assert [call.purpose for call in played.calls][calls:] == ["summarize"]
    assert (played.outcome.status, played.outcome.reason) == (Status.EXHAUSTED, EndReason.BUDGET)
    assert (played.outcome.answer, played.outcome.partial) == (BEST, True)
    assert played.outcome.message == Calls.used
    completed = [event.turn for event in played.events if isinstance(event, TurnCompleted)]
    assert completed == played.state.turns


@pytest.mark.parametrize(("policy", "calls"), SPENT)
def test_a_crash_after_the_budget_is_used_up_ends_the_run_as_honestly(
    policy: str, calls: int, stage: Callable[[str], Any]
) -> None:
    said = [*SCRIPTS[policy][:calls], BEST]
    whole = stage(policy).play(said, max_turns=9, budget=Calls(calls))
    last = next(n for n, event in enumerate(whole.events) if event == _last_paid(whole, calls))

    for moment in range(last + 1, len(whole.events)):
        stored = turns_and_proposals(whole.events[:moment])
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        events = list(
            stage(policy).events(said, state, max_turns=9, position=calls, budget=Calls(0))
        )
        assert state.outcome is not None
        assert (state.outcome.reason, state.outcome.answer) == (EndReason.BUDGET, BEST)
        completed = sum(isinstance(event, TurnCompleted) for event in events)
        assert stored.completed + completed == len(state.turns)


def _last_paid(played: Any, calls: int) -> ModelCalled:
    return ModelCalled(call=played.calls[calls - 1])
