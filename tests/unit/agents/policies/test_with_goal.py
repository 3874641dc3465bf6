"""Settling the goal first: any policy goes on with what is meant, or the run ends by asking."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Exchange, Status
from agents.control import Control
from agents.errors import ConfigurationError
from agents.events import Event, ModelCalled, RunEnded, TurnCompleted
from agents.providers.demo import DemoProvider
from agents.state import State
from agents.tools.calculator import calculator

HISTORY = (Exchange(question="Count the swans", answer="12"),)
ANSWERS = {
    "explicit": "Final Answer: done",
    "implicit": '{"kind": "FINAL", "text": "done"}',
    "self_repair": "<__final_answer__>done</__final_answer__>",
}


def said(value: dict[str, Any]) -> str:
    return json.dumps(value)


def asked(call: Any) -> str:
    return str(json.loads(call.request)["messages"][-1]["content"])


@pytest.mark.parametrize("policy", ANSWERS)
def test_the_policy_works_on_what_is_meant(policy: str, stage: Callable[[str], Any]) -> None:
    script = [said({"revised_goal": "Count the swans again"}), ANSWERS[policy]]

    played = stage(policy).play(script, goal="again", history=HISTORY, settle_goal=True)

    assert played.outcome.answer == "done"
    assert [call.purpose for call in played.calls] == ["settle_goal", "think"]
    assert "\nCount the swans again\n" in asked(played.calls[1])
    assert "This is meant" not in asked(played.calls[1])


def test_what_is_asked_back_is_the_answer_and_ends_the_run(stage: Callable[[str], Any]) -> None:
    script = [said({"clarification_question": "Which swans?"})]

    played = stage("implicit").play(script, settle_goal=True)

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.SUCCEEDED, EndReason.ASKED)
    assert outcome.answer == "Which swans?"
    assert len(played.state.turns) == 1


def test_a_clear_goal_stands_letter_by_letter(stage: Callable[[str], Any]) -> None:
    played = stage("explicit").play(["{}", ANSWERS["explicit"]], goal=" Q\n? ", settle_goal=True)

    assert "\n Q\n? \n" in asked(played.calls[1])


def test_the_time_of_the_asker_is_told(stage: Callable[[str], Any]) -> None:
    zone = {"time_zone": "Asia/Kathmandu"}

    played = stage("explicit").play(["{}", ANSWERS["explicit"]], settle_goal=zone)

    assert "UTC+0545" in json.loads(played.calls[0].request)["messages"][0]["content"]


@pytest.mark.parametrize("wrong", [{"time_zone": "Mars"}, {"time_zone": "../x"}, {"zone": 1}, 3])
def test_a_wrong_setting_is_refused(wrong: Any, stage: Callable[[str], Any]) -> None:
    with pytest.raises(ConfigurationError, match="settle_goal"):
        stage("explicit").play(settle_goal=wrong)


def test_without_the_setting_nothing_is_asked_first(stage: Callable[[str], Any]) -> None:
    played = stage("explicit").play([ANSWERS["explicit"]], settle_goal=False)

    assert [call.purpose for call in played.calls] == ["think"]


def test_a_crash_at_any_event_changes_nothing_in_the_end(stage: Callable[[str], Any]) -> None:
    script = [
        said({"revised_goal": "R"}),
        "s\nAction: search\nAction Input: q",
        "no format",
        ANSWERS["explicit"],
    ]
    whole = stage("explicit").play(script, settle_goal=True)

    for moment in range(len(whole.events)):
        state, calls = replayed(whole.events[:moment])
        list(stage("explicit").events(script, state, position=calls, settle_goal=True))
        assert (state.turns, state.outcome) == (whole.state.turns, whole.state.outcome)


def replayed(events: list[Event]) -> tuple[State, int]:
    """Return what is stored when only complete turns are, and how many calls they took."""
    completed = [n for n, event in enumerate(events) if isinstance(event, TurnCompleted)]
    kept = events[: completed[-1] + 1] if completed else []
    state = State("Q?")
    for event in kept:
        state.apply(event)
    return state, sum(isinstance(event, ModelCalled) for event in kept)


def test_the_demo_does_it_again(stage: Callable[[str], Any]) -> None:
    history = (Exchange(question="What is 6 * 7?", answer="6 * 7 = **42**"),)

    played = stage("explicit").play(
        goal="Do it again, please!".replace(",", ""),
        history=history,
        provider=DemoProvider(rate=None),
        tools=[calculator],
        settle_goal=True,
    )

    assert "42" in played.outcome.answer
    assert played.state.turns[0].thought.text == "This is meant: What is 6 * 7?"


def test_the_demo_asks_what_to_do_again(stage: Callable[[str], Any]) -> None:
    events = list(
        stage("explicit").events(
            [], State("again"), provider=DemoProvider(rate=None), settle_goal=True
        )
    )

    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome.reason is EndReason.ASKED


def test_a_stop_while_the_goal_is_settled_is_a_stop(stage: Callable[[str], Any]) -> None:
    control = Control()
    control.stop()

    played = stage("explicit").play(["{}"], control=control, settle_goal=True)

    assert played.outcome.status is Status.STOPPED
