"""A replay of turns of several actions: it agrees with its record, and tells where it does not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from agents.contracts import Action, EndReason, Observation, Thought, ToolCall, Turn
from agents.control import Control
from agents.events import ActionsProposed, Event, ModelCalled, Observed, TurnStarted
from agents.policies import POLICIES
from agents.policies.spec import PolicySpec
from agents.record.replay import replay
from agents.record.tape import Difference, Recorded, RecordedCall
from agents.state import State
from tests.unit.agents.several_actions import (
    DONE,
    LISTED,
    Played,
    World,
    begin,
    call,
    listed,
    play,
)

LOOK, SEND, LAST = call("look", at="a"), call("send", to="b"), call("look", at="c")
THREE = listed(LOOK, SEND, LAST)
ASK = call("ask_user", question="Which?")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, LISTED.name, LISTED)


def recorded(played: Played) -> Recorded:
    """Return what a store would keep of a run."""
    state = played.state
    calls = tuple(_calls(played.events))
    return Recorded(state.goal, tuple(state.turns), calls, state.outcome, is_cut=state.is_open)


def _calls(events: Sequence[Event]) -> list[RecordedCall]:
    index, calls = 0, list[RecordedCall]()
    for event in events:
        if isinstance(event, TurnStarted):
            index = event.index
        elif isinstance(event, ModelCalled):
            kept = {name: getattr(event.call, name) for name in ("purpose", "reply", "error")}
            calls.append(RecordedCall(turn_index=index, attempt=1, **kept))
    return calls


def difference(record: Recorded, world: World | None = None) -> Difference | None:
    kit = (world or World()).toolkit()
    return replay(PolicySpec(policy=LISTED.name), kit, record)


def with_action(record: Recorded, position: int, **changed: Any) -> Recorded:
    """Return the record with one action of its first turn written otherwise."""
    first, *rest = record.turns
    actions = list(first.actions)
    actions[position] = actions[position].model_copy(update=changed)
    return replace(record, turns=[first.model_copy(update={"actions": tuple(actions)}), *rest])


def test_it_agrees_and_carries_nothing_out() -> None:
    world = World()

    assert difference(recorded(play(THREE, listed(LAST, SEND), DONE)), world) is None
    assert world.done == []


def test_it_agrees_with_a_run_that_one_of_them_ended() -> None:
    assert difference(recorded(play(listed(LOOK, ASK, SEND)))) is None


def test_it_agrees_with_a_run_in_which_some_failed_or_were_refused() -> None:
    calls = listed(call("broken", text="x"), call("remove", path="a"), call("ghost"), LAST)

    assert difference(recorded(play(calls, DONE))) is None


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize(
    "other", [call("look", at="elsewhere"), call("send", to="a"), call("ghost")]
)
def test_another_call_is_told(position: int, other: ToolCall) -> None:
    record = with_action(recorded(play(THREE, DONE)), position, call=other)

    told = difference(record)

    assert told is not None
    assert (told.turn, told.what, told.stored) == (0, "action", other.model_dump_json())
    assert told.replayed == (LOOK, SEND, LAST)[position].model_dump_json()


def test_calls_in_another_order_are_told() -> None:
    record = recorded(play(THREE, DONE))
    turned = record.turns[0].actions[::-1]

    first = record.turns[0].model_copy(update={"actions": turned})
    told = difference(replace(record, turns=[first, *record.turns[1:]]))

    assert told is not None
    assert (told.turn, told.what, told.stored) == (0, "action", LAST.model_dump_json())


@pytest.mark.parametrize("position", [0, 1])
def test_an_observation_that_ends_the_run_leaves_those_behind_it_to_differ(position: int) -> None:
    ends = Observation(text="Which?", ends=EndReason.ASKED)

    told = difference(with_action(recorded(play(THREE, DONE)), position, observation=ends))

    assert told is not None
    assert (told.turn, told.what) == (0, "observation.text")
    assert told.replayed == "None"


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_observation_that_is_stored_otherwise_is_told(position: int) -> None:
    record = recorded(play(THREE, DONE))

    def changed(turn: Turn) -> Turn:
        if not turn.actions:
            return turn
        actions = list(turn.actions)
        actions[position] = actions[position].model_copy(
            update={"observation": Observation(text="other")}
        )
        return turn.model_copy(update={"actions": tuple(actions)})

    told = replay(PolicySpec(policy=LISTED.name), World().toolkit(), record, changed)

    assert told is not None
    assert (told.turn, told.what, told.replayed) == (0, "observation.text", "'other'")
    assert told.stored == repr(["saw a", "sent b", "saw c"][position])


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_observation_that_is_missing_is_told(position: int) -> None:
    told = difference(with_action(recorded(play(THREE, DONE)), position, observation=None))

    assert told is not None
    assert (told.turn, told.stored) == (0, "nothing")


def test_an_observation_that_does_not_end_the_run_any_more_is_told() -> None:
    record = recorded(play(listed(LOOK, ASK, SEND)))

    told = difference(with_action(record, 1, observation=Observation(text="Which?")))

    assert told is not None
    assert (told.turn, told.stored) == (0, "nothing")


@pytest.mark.parametrize("observed", [1, 2, 3])
def test_it_agrees_with_a_run_that_was_stopped_between_two(observed: int) -> None:
    control, played = Control(), Played(State("Q?"), World())
    for event in begin([THREE, DONE], played, control=control):
        if isinstance(event, Observed) and len(played.turn.observations) == observed:
            control.stop()
    assert len(played.world.done) == observed

    assert difference(recorded(played)) is None


@pytest.mark.parametrize("observed", [0, 1, 2, 3])
def test_it_agrees_with_a_run_that_goes_on_still(observed: int) -> None:
    played = Played(State("Q?"), World())
    for event in begin([THREE, DONE], played):
        is_told = isinstance(event, Observed if observed else ActionsProposed)
        if is_told and len(played.turn.observations) == observed:
            break
    assert len(played.turn.observations) == observed

    assert difference(recorded(played)) is None


def test_a_call_that_was_stored_in_addition_is_told() -> None:
    record = recorded(play(THREE, DONE))
    more = Action(call=SEND, observation=Observation(text="sent b"))

    first = record.turns[0]
    first = first.model_copy(update={"actions": (*first.actions, more)})
    told = difference(replace(record, turns=[first, *record.turns[1:]]))

    assert told is not None
    assert (told.turn, told.what, told.replayed) == (0, "action", "None")


def test_a_call_that_was_not_stored_is_told() -> None:
    record = recorded(play(THREE, DONE))

    first = record.turns[0].model_copy(update={"actions": record.turns[0].actions[:2]})
    told = difference(replace(record, turns=[first, *record.turns[1:]]))

    assert told is not None
    assert (told.turn, told.what, told.replayed) == (0, "what comes next", "an action")


def test_the_thought_of_a_turn_of_several_is_compared_as_well() -> None:
    record = recorded(play(THREE, DONE))
    first = record.turns[0]
    assert isinstance(first.thought, Thought)

    other = first.model_copy(update={"thought": first.thought.model_copy(update={"text": "x"})})
    told = difference(replace(record, turns=[other, *record.turns[1:]]))

    assert told is not None
    assert told.what == "thought.text"
