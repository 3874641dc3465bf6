"""Several actions of a turn: in order, each observed, asked about, stopped and resumed alone."""

import pytest

from agents.act.approval import ApprovalAnswer
from agents.contracts import Action, EndReason, Observation, Status, ToolCall
from agents.control import Control
from agents.errors import Interrupted, Parked
from agents.events import (
    ActionsProposed,
    ActionStarted,
    ObservationDelta,
    Observed,
    ThoughtCompleted,
    TurnCompleted,
)
from agents.state import State
from agents.tools.spec import Tool
from tests.unit.agents.several_actions import (
    DONE,
    Played,
    World,
    begin,
    call,
    listed,
    opened,
    play,
)

LOOK, SEND, LAST = call("look", at="a"), call("send", to="b"), call("look", at="c")
THREE = listed(LOOK, SEND, LAST)
REMOVE_A, REMOVE_B = call("remove", path="a"), call("remove", path="b")


def test_they_run_one_after_the_other_and_each_is_observed() -> None:
    played = play(THREE, DONE)

    assert played.world.done == ["look a", "send b", "look c"]
    assert played.turn.calls == (LOOK, SEND, LAST)
    assert played.seen == ["saw a", "sent b", "saw c"]
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, DONE)


def test_they_are_proposed_together_and_told_of_one_by_one() -> None:
    told = play(THREE, DONE).events
    begun, over = (
        next(n for n, event in enumerate(told) if isinstance(event, kind))
        for kind in (ThoughtCompleted, TurnCompleted)
    )

    assert told[begun + 1] == ActionsProposed(calls=(LOOK, SEND, LAST))
    each = [ActionStarted, ObservationDelta, Observed]
    assert [type(event) for event in told[begun + 2 : over]] == each * 3


def test_the_same_call_twice_in_a_turn_is_made_twice() -> None:
    assert play(listed(SEND, SEND), DONE).world.done == ["send b", "send b"]


def test_a_failure_does_not_keep_the_next_from_running() -> None:
    played = play(listed(call("broken", text="x"), call("ghost"), LAST), DONE)

    errors = [seen.error for seen in played.turn.observations]
    assert errors == ["ToolFailed", "ToolNotFound", None]
    assert played.world.done == ["look c"]


def test_each_is_asked_about_by_itself_once_it_is_next() -> None:
    asked: list[tuple[ToolCall, list[str]]] = []
    played = Played(State("Q?"), World())

    def yes(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        asked.append((call, list(played.world.done)))
        return ApprovalAnswer(granted=True)

    list(begin([listed(REMOVE_A, LOOK, REMOVE_B), DONE], played, ask=yes))

    assert asked == [(REMOVE_A, []), (REMOVE_B, ["remove a", "look a"])]
    assert played.world.done == ["remove a", "look a", "remove b"]


def test_a_refusal_of_one_lets_the_next_run() -> None:
    def not_a(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        return ApprovalAnswer(granted=call != REMOVE_A, feedback="Leave it.")

    played = play(listed(REMOVE_A, REMOVE_B), DONE, ask=not_a)

    assert [seen.error for seen in played.turn.observations] == ["NotApproved", None]
    assert "Leave it." in played.seen[0]
    assert played.world.done == ["remove b"]


def test_with_nobody_to_ask_only_what_is_risky_is_left() -> None:
    assert play(listed(REMOVE_A, LOOK, REMOVE_B, LAST), DONE).world.done == ["look a", "look c"]


def test_a_run_that_waits_at_the_second_has_made_the_first_and_not_the_third() -> None:
    def later(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        raise Parked

    played = Played(State("Q?"), World())
    with pytest.raises(Parked):
        list(begin([listed(SEND, REMOVE_A, LAST)], played, ask=later))

    assert played.world.done == ["send b"]
    assert (played.turn.position, played.seen) == (1, ["sent b"])


@pytest.mark.parametrize(
    ("has_begun", "done"), [(False, ["remove a", "look c"]), (True, ["look c"])]
)
def test_an_answer_to_the_second_that_had_begun_does_not_make_it_again(
    has_begun: bool, done: list[str]
) -> None:
    def yes(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        return ApprovalAnswer(granted=True, has_begun=has_begun)

    sent = Action(call=SEND, observation=Observation(text="sent b"))
    state = opened(sent, Action(call=REMOVE_A), Action(call=LAST))

    assert play(DONE, state=state, ask=yes).world.done == done


def test_a_stop_between_two_marks_the_open_one_and_leaves_the_rest_unobserved() -> None:
    control, played = Control(), Played(State("Q?"), World())

    for event in begin([THREE], played, control=control):
        if isinstance(event, Observed):
            control.stop()

    first, second, third = played.turn.actions
    assert played.world.done == ["look a"]
    assert first.observation == Observation(text="saw a")
    assert second.observation == Observation(text="", error="Interrupted")
    assert third == Action(call=LAST)
    assert played.outcome.status is Status.STOPPED


def test_what_the_first_put_out_is_not_told_of_the_one_that_is_cut_off() -> None:
    control, played, deltas = Control(), Played(State("Q?"), World()), list[str]()

    for event in begin([THREE], played, control=control):
        if isinstance(event, ObservationDelta):
            deltas.append(event.text)
        if deltas == ["saw a", "sent b"]:
            control.stop()

    assert played.seen[:2] == ["saw a", "sent b"]
    assert played.outcome.status is Status.STOPPED


@pytest.mark.parametrize(
    ("ending", "reason", "answer"),
    [
        (call("ask_user", question="Which one?"), EndReason.ASKED, "Which one?"),
        (call("finish", answer="It is 42."), EndReason.ANSWERED, "It is 42."),
    ],
)
def test_one_that_ends_the_run_leaves_those_behind_it_unobserved(
    ending: ToolCall, reason: EndReason, answer: str
) -> None:
    played = play(listed(LOOK, ending, SEND, LAST))

    assert played.world.done == ["look a"]
    assert played.seen == ["saw a", answer]
    assert played.turn.actions[2:] == (Action(call=SEND), Action(call=LAST))
    assert (played.outcome.reason, played.outcome.answer) == (reason, answer)
    completed = [event.turn for event in played.events if isinstance(event, TurnCompleted)]
    assert completed == played.state.turns


def test_a_run_that_one_of_them_ended_is_only_closed_when_it_is_resumed() -> None:
    asked = Action(
        call=call("ask_user", question="Which?"),
        observation=Observation(text="Which?", ends=EndReason.ASKED),
    )

    played = play(state=opened(asked, Action(call=SEND)))

    assert (played.world.done, played.outcome.answer) == ([], "Which?")
    assert [type(event).__name__ for event in played.events] == ["TurnCompleted", "RunEnded"]


def test_one_that_may_have_begun_is_not_made_again_and_those_behind_it_are_made() -> None:
    seen = Action(call=LOOK, observation=Observation(text="saw a"))

    played = play(DONE, state=opened(seen, Action(call=SEND), Action(call=SEND), Action(call=LAST)))

    assert played.world.done == ["send b", "look c"]
    errors = [observation.error for observation in played.turn.observations]
    assert errors == [None, Interrupted.__name__, None, None]
    assert played.outcome.answer == DONE


def test_one_that_may_have_begun_is_made_again_where_that_does_no_harm() -> None:
    sent = Action(call=SEND, observation=Observation(text="sent b"))

    played = play(DONE, state=opened(sent, Action(call=LAST), Action(call=SEND)))

    assert played.world.done == ["look c", "send b"]
    assert played.seen == ["sent b", "saw c", "sent b"]


def test_a_crash_at_any_event_loses_no_observation_and_makes_nothing_twice() -> None:
    whole = play(THREE, DONE)

    for moment in range(1, len(whole.events)):
        state, thoughts = State("Q?"), 0
        for event in whole.events[:moment]:
            state.apply(event)
            thoughts += isinstance(event, ThoughtCompleted)
        kept = State("Q?", turns=state.turns, is_open=state.is_open)
        seen = [observation.text for turn in kept.turns for observation in turn.observations]
        again = play(*[THREE, DONE][thoughts:], state=kept)
        first = again.turn.observations
        assert [observation.text for observation in first[: len(seen)]] == seen
        assert len(first) == 3
        assert first[1].error is None or "send b" not in again.world.done
        assert not (len(seen) > 1 and "send b" in again.world.done)
        assert again.outcome.answer == DONE
