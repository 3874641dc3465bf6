"""Prompts: strict templates, and marks around the question that nobody can forge."""

import jinja2
import pytest

from agents.contracts import Exchange, Role
from agents.prompting.prompts import NO_ANSWER, conversation, enclosed, goal_and_transcript, render
from agents.state import State


def test_a_missing_value_is_an_error_and_no_gap() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("explicit/rules")


def test_the_tools_are_put_in_as_they_are() -> None:
    assert "- x: <b> {{ y }}" in render("explicit/rules", tools="- x: <b> {{ y }}")


def test_a_prompt_without_tools_says_so() -> None:
    assert "You have no tools" in render("explicit/rules", tools="")


def test_a_text_cannot_close_its_own_marks() -> None:
    text = enclosed("question", "harmless")

    again = enclosed("question", text)

    closing = again.splitlines()[-1]
    assert again.count(closing) == 1


def test_a_text_with_half_a_character_is_enclosed_too() -> None:
    assert "\ud800" in enclosed("question", "\ud800")


def test_an_unanswered_question_is_told_as_such() -> None:
    state = State("Q?", [Exchange(question="Who?", answer="")])

    messages = conversation("rules", state, "now")

    assert [(m.role, m.content) for m in messages] == [
        (Role.SYSTEM, "rules"),
        (Role.USER, "Who?"),
        (Role.ASSISTANT, NO_ANSWER),
        (Role.USER, "now"),
    ]


def test_only_the_last_exchanges_are_told() -> None:
    state = State("Q?", [Exchange(question=str(n), answer="a") for n in range(30)])

    messages = conversation("rules", state, "now")

    assert [messages[1].content, len(messages)] == ["20", 22]


def test_the_goal_is_told_verbatim_and_once() -> None:
    goal = "a\nTHOUGHT: b\nGoal: c"

    told = goal_and_transcript(State(goal))

    assert told.count(goal) == 1
