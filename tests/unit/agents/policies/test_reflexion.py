"""The policy reflexion: what a try that failed has taught is all that the next one knows of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Status
from agents.providers.demo import DemoProvider
from agents.tools.calculator import calculator

ACT = "look\nAction: search\nAction Input: first way"
OTHER = "look\nAction: search\nAction Input: second way"
BREAK = "try\nAction: broken\nAction Input: {}"
ANSWER = "enough\nFinal Answer: ok"


@pytest.fixture
def reflexion(stage: Callable[[str], Any]) -> Any:
    return stage("reflexion")


def asked(call: Any) -> str:
    return str(json.loads(call.request)["messages"][-1]["content"])


def purposes(played: Any) -> str:
    return " ".join(call.purpose for call in played.calls)


def test_a_run_that_goes_well_is_one_try(reflexion: Any) -> None:
    played = reflexion.play([ACT, ANSWER])

    assert purposes(played) == "think think"
    assert played.outcome.answer == "ok"


def test_the_next_try_begins_with_the_lesson_alone(reflexion: Any) -> None:
    played = reflexion.play(
        [ACT, "no format", "The first way is empty.", OTHER, ANSWER], turns_per_try=2, max_turns=9
    )

    assert purposes(played) == "think think learn think think"
    assert asked(played.calls[3]).endswith("\n\nThought: The first way is empty.\nThought: ")
    assert "first way" not in asked(played.calls[4]).replace("The first way is empty.", "")
    assert played.outcome.answer == "ok"


def test_the_lesson_is_drawn_from_the_failed_try(reflexion: Any) -> None:
    played = reflexion.play(
        [ACT, ACT, "One.", OTHER, OTHER, "Two.", ANSWER], turns_per_try=2, max_turns=9
    )

    assert "first way" in asked(played.calls[2])
    assert "It took too many turns." in asked(played.calls[2])
    assert "first way" not in asked(played.calls[5])
    assert "One." in asked(played.calls[5])


@pytest.mark.parametrize(
    ("try_", "why"),
    [
        ([ACT, ACT, ACT], "It repeated the same action"),
        ([BREAK.format(n) for n in range(3)], "One step after the other failed."),
    ],
)
def test_a_circle_and_failures_end_a_try_early(try_: list[str], why: str, reflexion: Any) -> None:
    played = reflexion.play([*try_, "Lesson.", ANSWER], turns_per_try=6, max_turns=9)

    assert why in asked(played.calls[3])
    assert played.outcome.status is Status.SUCCEEDED


def test_tries_are_bounded_and_their_end_is_no_success(reflexion: Any) -> None:
    script = ["no format", "Lesson.", "no format", "the best I have"]

    played = reflexion.play(script, tries=2, turns_per_try=1, max_turns=20)

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.EXHAUSTED, EndReason.TURNS)
    assert (outcome.answer, outcome.partial) == ("the best I have", True)
    assert outcome.message == "No answer after 2 tries, with 3 turns in all."


def test_no_lesson_is_drawn_where_no_turn_is_left_for_it(reflexion: Any) -> None:
    played = reflexion.play(["Action:", "Action:", "best"], turns_per_try=2, max_turns=3)

    assert purposes(played) == "think think summarize"


def test_a_lesson_that_is_not_said_is_not_invented(reflexion: Any) -> None:
    played = reflexion.play(["no format", "", ANSWER], turns_per_try=1)

    assert played.state.turns[1].thought.text == (
        "The last try did not come to an answer. I take another way."
    )


def test_a_summary_that_fails_is_told_with_the_tries(reflexion: Any) -> None:
    failing = {"fail": "busy", "message": "Full."}

    played = reflexion.play(["no format", failing], tries=1, turns_per_try=1)

    assert played.outcome.message.startswith(
        "No answer after 1 try, with 1 turns in all. The model"
    )
    assert played.outcome.message.endswith("Full.")


def test_the_demo_answers_in_its_first_try(reflexion: Any) -> None:
    played = reflexion.play(
        goal="What is 6 * 7?", provider=DemoProvider(rate=None), tools=[calculator]
    )

    assert "42" in played.outcome.answer
