"""What every policy promises of its events: their order, and one end."""

from itertools import pairwise
from typing import Any

import pytest

from agents.contracts import Status
from agents.control import Control
from agents.errors import ConfigurationError, Interrupted
from agents.events import (
    ActionsProposed,
    ActionStarted,
    AnswerDelta,
    Event,
    ModelCalled,
    ObservationDelta,
    Observed,
    RunEnded,
    ThoughtCompleted,
    ThoughtDelta,
    TurnCompleted,
    TurnStarted,
)
from agents.model.model import Model
from agents.policies import POLICIES, build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.contract.scripts import SCRIPTS, Entry, recorded

ORDER: dict[type, tuple[type, ...]] = {
    TurnStarted: (ThoughtDelta, AnswerDelta, ModelCalled),
    ThoughtDelta: (ThoughtDelta, AnswerDelta, ModelCalled, ThoughtCompleted),
    AnswerDelta: (AnswerDelta, ModelCalled, ThoughtCompleted, RunEnded),
    ModelCalled: (
        ModelCalled,
        ThoughtDelta,
        AnswerDelta,
        ThoughtCompleted,
        ActionsProposed,
        Observed,
        RunEnded,
    ),
    ThoughtCompleted: (ActionsProposed, Observed, ModelCalled, TurnCompleted),
    ActionsProposed: (ActionStarted,),
    ActionStarted: (ObservationDelta, Observed),
    ObservationDelta: (ObservationDelta, ModelCalled, Observed),
    Observed: (TurnCompleted, ActionStarted, Observed),
    TurnCompleted: (TurnStarted, AnswerDelta, ModelCalled, RunEnded),
    RunEnded: (),
}


def test_every_policy_is_tried_here() -> None:
    assert SCRIPTS.keys() == POLICIES.keys()


def test_events_come_in_order(case: tuple[Any, list[Entry], int]) -> None:
    stage, said, turns = case

    events = stage.play(said, max_turns=turns).events

    assert isinstance(events[0], TurnStarted)
    assert all(isinstance(later, ORDER[type(event)]) for event, later in pairwise(events))


def test_each_turn_is_completed_once_and_the_run_ended_once_and_last(
    case: tuple[Any, list[Entry], int],
) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    completed = [event.turn for event in played.events if isinstance(event, TurnCompleted)]
    assert completed == played.state.turns
    assert [event for event in played.events if isinstance(event, RunEnded)] == played.events[-1:]


def test_the_answer_on_the_page_is_the_answer_of_the_run(
    case: tuple[Any, list[Entry], int],
) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert shown == played.outcome.answer


def test_the_whole_script_is_needed(case: tuple[Any, list[Entry], int]) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    assert [call.reply for call in played.calls] == [recorded(entry) for entry in said]


def test_a_stop_at_any_event_leaves_a_whole_state(case: tuple[Any, list[Entry], int]) -> None:
    stage, said, turns = case
    whole = stage.play(said, max_turns=turns)

    for moment in range(len(whole.events) - 1):
        control, state, events = Control(), State("Q?"), list[Event]()
        for event in stage.events(said, state, max_turns=turns, control=control):
            events.append(event)
            if len(events) == moment + 1:
                control.stop()
        assert isinstance(events[-1], RunEnded)
        assert state.outcome is not None
        assert state.outcome.status is Status.STOPPED or state.outcome == whole.outcome
        assert all(turn.thought is not None for turn in state.turns)
        # Actions behind the one that was cut off were not begun.
        assert all(turn.observations for turn in state.turns if turn.actions)


def test_an_interruption_at_any_event_raises_and_tells_no_end(
    case: tuple[Any, list[Entry], int],
) -> None:
    stage, said, turns = case
    control, events = Control(), list[Event]()

    def play() -> None:
        for event in stage.events(said, State("Q?"), max_turns=turns, control=control):
            events.append(event)
            control.interrupt()

    with pytest.raises(Interrupted):
        play()
    assert not any(isinstance(event, RunEnded) for event in events)


def test_an_unknown_policy_is_refused_with_what_there_is() -> None:
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(), Limits())

    with pytest.raises(ConfigurationError, match=r"no policy 'dance'.*explicit, implicit"):
        build(PolicySpec(policy="dance"), parts)
