"""Steps of the policy planned: what is repaired, what may be repeated, and what ends the run."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Status
from agents.events import ThoughtDelta
from agents.policies.planned import Settings, exempt
from agents.tools.spec import Safety, tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.planned.replies import (
    DONE,
    SUMMARY,
    asked,
    observations,
    purposes,
    step,
)

Play = Callable[..., Any]


@tool(safety=Safety.SENSITIVE)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def test_a_reply_that_cannot_be_read_is_repaired(play: Play) -> None:
    played = play("Paris.", DONE)

    assert purposes(played) == ["step", "repair"]
    assert "Paris." in asked(played, 1)
    assert played.outcome.answer == "all"


def test_a_tool_is_known_however_its_name_is_written(play: Play) -> None:
    played = play(step("Complete()", result=" "), step("`Complete`", answer="all"))

    assert purposes(played) == ["step", "repair"]
    assert played.outcome.answer == "all"


def test_a_shorthand_needs_no_repair(play: Play) -> None:
    played = play('{"thought": "t", "add": {"left": 1}}', DONE)

    assert purposes(played) == ["step", "step"]
    assert observations(played)[0].text == "2"


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (0, "0"),
        (0.0, "0.0"),
        (False, "false"),
        ({"n": 42}, '{"n": 42}'),
        ([1, "ä"], '[1, "ä"]'),
        ("0", "0"),
    ],
)
def test_a_result_that_is_no_text_is_an_answer_as_well(
    play: Play, result: object, answer: str
) -> None:
    played = play(step("complete", result=result))

    assert purposes(played) == ["step"]
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, answer)


@pytest.mark.parametrize("nothing", [None, "", " ", [], {}])
def test_a_result_of_nothing_is_none(play: Play, nothing: object) -> None:
    played = play(step("complete", result=nothing), DONE)

    assert purposes(played) == ["step", "repair"]


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ('{"thought": "t"}', "Missing required field 'action'"),
        ('{"thought": "t", "action": {"tool": "add", "parameters": []}}', "must be an object"),
        ('{"thought": "t", "action": {"tool": "search", "parameters": {"query": "ha', "breaks off"),
        (step("complete", result=" "), "is empty"),
    ],
)
def test_a_repair_is_told_what_is_wrong(play: Play, reply: str, complaint: str) -> None:
    played = play(reply, DONE)

    assert purposes(played) == ["step", "repair"]
    assert complaint in asked(played, 1)


def test_two_repairs_in_vain_end_the_run_with_the_best_partial_answer(play: Play) -> None:
    played = play("{}", "{}", "{}", SUMMARY)

    outcome = played.outcome
    assert purposes(played) == ["step", "repair", "repair", "summarize"]
    assert (outcome.status, outcome.reason) == (Status.EXHAUSTED, EndReason.FAILURES)
    assert (outcome.answer, outcome.partial) == (SUMMARY, True)
    assert "could not be read" in outcome.message


def test_what_is_said_in_place_of_a_step_is_the_answer_at_the_second_time(play: Play) -> None:
    played = play("Hello! How can I help?", "Hello! How can I help?")

    assert purposes(played) == ["step", "repair"]
    assert (played.outcome.status, played.outcome.partial) == (Status.SUCCEEDED, False)
    assert played.outcome.answer == "Hello! How can I help?"


def test_an_answer_with_a_label_is_one_at_once(play: Play) -> None:
    played = play("Thought: I know it.\nFinal Answer: Paris")

    assert purposes(played) == ["step"]
    assert played.outcome.answer == "Paris"


def test_calls_in_the_markup_of_a_family_are_carried_out(play: Play) -> None:
    calls = "".join(
        f'<tool_call>{{"name": "add", "arguments": {{"left": {left}}}}}</tool_call>\n'
        for left in (1, 2)
    )
    played = play(calls, DONE)

    assert purposes(played) == ["step", "step"]
    assert [seen.text for seen in observations(played)][:2] == ["2", "3"]


def test_an_unknown_tool_and_wrong_inputs_are_observed_and_the_run_goes_on(play: Play) -> None:
    played = play(step("ghost"), step("add", left="x"), DONE)

    assert [seen.error for seen in observations(played)] == ["ToolNotFound", "InvalidInputs"]
    assert played.outcome.status is Status.SUCCEEDED


def test_three_failures_in_a_row_end_the_run(play: Play) -> None:
    script = [step("broken", text=text) for text in "abc"]
    played = play(*script, SUMMARY)

    assert (played.outcome.reason, len(played.state.turns)) == (EndReason.FAILURES, 3)
    assert played.outcome.message.startswith("Too many consecutive failures")


def test_a_success_between_failures_lets_the_run_go_on(play: Play) -> None:
    a, b = step("broken", text="a"), step("broken", text="b")
    played = play(a, b, step("add", left=1), a, b, DONE)

    assert played.outcome.status is Status.SUCCEEDED


def test_the_same_tool_five_times_in_a_row_ends_the_run(play: Play) -> None:
    played = play(*[step("search", query=text) for text in "abcde"], SUMMARY)

    assert played.outcome.reason is EndReason.REPEATS
    assert played.outcome.message == "Tool 'search' called 5 times in a row."


def test_an_exempt_tool_may_go_on(play: Play) -> None:
    script = [step("search", query=text) for text in "abcdef"]
    played = play(*script, DONE, settings={"exempt_tools": ["search"]})

    assert played.outcome.status is Status.SUCCEEDED


def test_a_tool_that_says_so_may_go_on(play: Play) -> None:
    @tool(may_repeat=True)
    def leaf(page: str) -> str:
        """Look at a page of the book."""
        return f"page {page}"

    played = play(*[step("leaf", page=text) for text in "abcdef"], DONE, tools=[leaf])

    assert played.outcome.status is Status.SUCCEEDED


def test_the_tools_of_this_release_that_may_go_on_do_so_on_every_machine() -> None:
    assert "browser_extract" in exempt(Settings(), Toolkit())
    assert "browser_click" not in exempt(Settings(), Toolkit())
    assert exempt(Settings(exempt_tools=("browser_click",)), Toolkit()) == {"browser_click"}


def test_the_second_repeat_is_warned_of_and_the_third_ends_the_run(play: Play) -> None:
    played = play(*[step("add", left=1)] * 3, SUMMARY)

    assert played.outcome.reason is EndReason.REPEATS
    assert "A third time ends the run" in asked(played, 2)


def test_a_risky_tool_does_not_run_with_nobody_to_ask(play: Play) -> None:
    played = play(step("pay", amount=5), DONE, tools=[pay])

    assert observations(played)[0].error == "NotApproved"


def test_a_failure_is_reflected_on_under_react_plus(play: Play) -> None:
    script = (step("broken", text="a"), "It cannot be.", DONE)
    played = play(*script, settings={"strategy": "react_plus"})

    assert purposes(played) == ["step", "reflect", "step"]
    assert "It cannot be." in asked(played, 2)
    assert played.state.turns[1].thought.text == "It cannot be.\n\nt"
    shown = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
    assert shown.endswith("It cannot be.\n\nt")


def test_a_tree_of_thoughts_is_taken_at_its_best_branch(play: Play) -> None:
    tree = {
        "tree_of_thoughts": {
            "branches": [{"branch_id": 1, "strategy": "add", "reasoning": "sure"}]
        },
        "action": {"tool": "add", "parameters": {"left": 4}},
    }
    played = play(json.dumps(tree), DONE, settings={"strategy": "tree_of_thought"})

    assert observations(played)[0].text == "5"
    assert "sure" in played.state.turns[0].thought.text


def test_a_question_to_the_person_ends_the_run_as_asked(play: Play) -> None:
    @tool(terminal=True, ends=EndReason.ASKED)
    def ask_user(question: str) -> str:
        """Ask."""
        return question

    played = play(step("ask_user", question="Which?"), tools=[ask_user])

    assert (played.outcome.reason, played.outcome.answer) == (EndReason.ASKED, "Which?")


def test_a_reply_cut_at_the_length_limit_is_not_acted_on(play: Play) -> None:
    cut = '{"thought": "t", "action": {"tool": "send", "parameters": {"text": "half a'
    played = play({"say": cut}, DONE)

    assert observations(played) == []
