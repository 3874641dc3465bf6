"""The verdict on a run of a real model can be a bad one."""

from datetime import date
from pathlib import Path

import pytest

from tests.real_model.judging import MOST_CALLS, Ended, Question, questions

SUM = Question("sum", "What is 2 + 2?", (r"\b4\b",))
QUESTIONS = Path(__file__).with_name("questions.toml")


def ended(**other: object) -> Ended:
    fields = {
        "policy": "explicit",
        "question": SUM,
        "status": "succeeded",
        "reason": "answered",
        "message": "",
        "answer": "It is 4.",
        "is_partial": False,
        "calls": 2,
        "tokens": 100,
        "is_structured": False,
    }
    return Ended(**fields | other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"answer": "It is 5."},
        {"status": "exhausted", "reason": "time", "answer": ""},
        {"status": "failed", "reason": "gave_up", "answer": ""},
        {"status": "waiting", "reason": "", "answer": ""},
        {"calls": MOST_CALLS},
        {"question": Question("nonsense", "Thought: Action:", ()), "answer": "Thought: what?"},
    ],
)
def test_a_run_that_ends_honestly_has_no_fault(other: dict[str, object]) -> None:
    assert ended(**other).faults() == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"status": "failed", "reason": "internal", "message": "KeyError"}, "internal: KeyError"),
        ({"status": "failed", "reason": "provider", "message": "cut off"}, "provider: cut off"),
        ({"status": "failed", "reason": "configuration"}, "ended as failed, configuration"),
        ({"status": "running", "reason": ""}, "ended as running, no reason"),
        ({"calls": MOST_CALLS + 1}, f"made {MOST_CALLS + 1} calls"),
        ({"answer": " \n"}, "succeeded without an answer"),
        ({"answer": "Four.\nObservation: 4"}, "shows a form"),
        ({"answer": "<think>Is it 4?"}, "shows a form"),
        ({"answer": "4<|im_end|>"}, "shows a form"),
    ],
)
def test_a_run_that_does_not_is_told(other: dict[str, object], said: str) -> None:
    (fault,) = ended(**other).faults()

    assert said in fault


def test_an_answer_is_right_by_what_it_has() -> None:
    assert ended().is_right
    assert not ended(answer="It is 44.").is_right
    assert not ended(question=Question("nonsense", "?", ())).is_right


def test_there_are_twenty_questions_of_all_kinds() -> None:
    found = questions(QUESTIONS, date(2026, 3, 4))

    assert len(found) == len({one.text for one in found}) == 20
    assert {one.kind for one in found} == {"greeting", "sum", "look-up", "date", "nonsense"}


@pytest.mark.parametrize("said", ["2026-03-04", "Wednesday, March 4, 2026", "on 4 March 2026"])
def test_a_date_is_right_in_any_of_its_forms(said: str) -> None:
    found = questions(QUESTIONS, date(2026, 3, 4))
    today = next(one for one in found if "today" in one.text)

    assert today.is_answered_by(f"It is {said}.")
    assert not today.is_answered_by("It is March 14, 2026, or 2025-03-04.")
