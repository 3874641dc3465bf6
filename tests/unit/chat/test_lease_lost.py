"""A worker whose run has gone on without it says so, and does not call its policy broken."""

from collections.abc import Iterator

import pytest

from agents import loop
from agents.contracts import Thought, ThoughtKind
from agents.control import Control
from agents.decide import react
from agents.events import Event, ThoughtCompleted
from agents.policy import Policy
from agents.state import State
from chat.runs.lease import LeaseLost


def acts(_: State) -> Iterator[Event]:
    yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text="on it"))


def finds_its_run_gone(_: State) -> Iterator[Event]:
    raise LeaseLost("Run 7 went on without attempt 1.")


def test_a_lost_lease_leaves_the_loop_and_ends_no_run() -> None:
    policy = Policy(acts, finds_its_run_gone, react, finds_its_run_gone, name="lost")
    events = loop.run(policy, State(goal="?"), Control())
    told = [next(events).type, next(events).type]

    with pytest.raises(LeaseLost):
        next(events)

    assert told == ["turn.started", "thought.completed"]
