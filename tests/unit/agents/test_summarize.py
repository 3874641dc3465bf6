"""The end of a run: its answer, or the best that can honestly be said."""

from typing import Any

import pytest

from agents.contracts import Outcome, Reason, ReasonKind, ReasonNode, Status, Turn
from agents.control import Control
from agents.errors import ConfigurationError
from agents.events import AnswerDelta, Event, ModelCalled, RunEnded
from agents.providers.scripted import ScriptedProvider
from agents.reasoning.model import Model
from agents.state import State
from agents.summarize import Summarize


def close(script: list[dict[str, Any]], *nodes: ReasonNode, halted: Reason) -> list[Event]:
    turns = [Turn(index=index, thought=node) for index, node in enumerate(nodes)]
    model = Model(ScriptedProvider(script), Control())
    return list(Summarize(model, max_turns=2)(State("Q?", turns=turns, halted=halted)))


def outcome(events: list[Event]) -> Outcome:
    assert isinstance(events[-1], RunEnded)
    return events[-1].outcome


THOUGHT = ReasonNode(kind=ReasonKind.THOUGHT, text="hmm")


def test_an_answer_is_given_without_another_call() -> None:
    final = ReasonNode(kind=ReasonKind.FINAL, text="", answer="x")

    events = close([], final, halted=Reason.ANSWERED)

    ended = Outcome(status=Status.SUCCEEDED, reason=Reason.ANSWERED, answer="x")
    assert events == [RunEnded(outcome=ended)]


def test_without_an_answer_the_model_sums_up_without_tools() -> None:
    events = close([{"say": "About 3."}], THOUGHT, THOUGHT, halted=Reason.TURNS)

    assert [event.call.purpose for event in events if isinstance(event, ModelCalled)] == [
        "summarize"
    ]
    assert outcome(events) == Outcome(
        status=Status.EXHAUSTED,
        reason=Reason.TURNS,
        answer="About 3.",
        partial=True,
        message="Ran out of turns (2 of 2).",
    )


def test_the_summary_streams() -> None:
    events = close([{"say": "About 3."}], THOUGHT, halted=Reason.TURNS)

    assert [e.text for e in events if isinstance(e, AnswerDelta)] == ["About ", "3."]


def test_an_empty_summary_is_said_to_be_insufficient() -> None:
    events = close([{"say": " "}], THOUGHT, halted=Reason.TURNS)

    assert outcome(events).answer == "ERROR: insufficient data for a reliable answer."
    assert outcome(events).status is Status.EXHAUSTED


def test_a_summary_that_breaks_off_is_kept_and_said_to_have_failed() -> None:
    broken = {"fail": "truncated", "after": "About ", "message": "The line broke."}

    events = close([broken], THOUGHT, halted=Reason.TURNS)

    assert outcome(events).answer == "About "
    assert outcome(events).message.endswith("could not sum up what it found: The line broke.")
    assert outcome(events).reason is Reason.TURNS


def test_repeats_are_named_as_the_reason() -> None:
    events = close([{"say": "No."}], THOUGHT, halted=Reason.REPEATS)

    assert outcome(events).reason is Reason.REPEATS
    assert "repeated" in outcome(events).message


def test_a_wrong_set_up_is_not_taken_for_a_failing_model() -> None:
    with pytest.raises(ConfigurationError):
        close([], THOUGHT, halted=Reason.TURNS)
