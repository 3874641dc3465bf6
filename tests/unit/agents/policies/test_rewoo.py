"""The policy rewoo: named results, filled in where later steps use them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import EndReason, Status, ToolCall
from agents.providers.demo import DemoProvider
from agents.tools.calculator import calculator

ONE = "Plan: find\n#E1 = search[q]"
TWO = "Plan: find\n#E1 = search[q]\nPlan: again\n#E2 = search[more on #E1, twice #E1]"


@pytest.fixture
def rewoo(stage: Callable[[str], Any]) -> Any:
    return stage("rewoo")


def actions(played: Any) -> list[ToolCall]:
    return [call for turn in played.state.turns for call in turn.calls]


def asked(call: Any) -> str:
    return str(json.loads(call.request)["messages"][-1]["content"])


def test_later_steps_take_the_results_by_name(rewoo: Any) -> None:
    played = rewoo.play([TWO, "done"])

    assert actions(played)[1].inputs == {"query": "more on ran q, twice ran q"}
    assert [call.purpose for call in played.calls] == ["plan_steps", "solve"]
    assert (played.outcome.status, played.outcome.partial) == (Status.SUCCEEDED, False)


def test_the_answer_is_made_from_every_step_with_its_result(rewoo: Any) -> None:
    played = rewoo.play([TWO, "done"])

    assert "#E1 = search[q]\n<result" in asked(played.calls[1])
    assert "ran more on ran q" in asked(played.calls[1])


def test_a_bare_name_in_json_becomes_the_value(rewoo: Any) -> None:
    plan = 'Plan: a\n#E1 = add[{"left": 2, "right": 3}]\n#E2 = add[{"left": #E1, "right": "#E1"}]'

    played = rewoo.play([plan, "ten"])

    assert [seen.text for turn in played.state.turns[:2] for seen in turn.observations] == [
        "5",
        "10",
    ]


def test_a_result_that_holds_a_name_is_not_filled_in_again(rewoo: Any) -> None:
    plan = "#E1 = LLM[say it]\n#E2 = search[#E1]"

    played = rewoo.play([plan, "#E1 and #E2", "done"])

    assert actions(played)[1].inputs == {"query": "#E1 and #E2"}


def test_a_step_for_the_model_needs_no_tool(rewoo: Any) -> None:
    plan = f"{ONE}\nPlan: read\n#E2 = LLM[What was run? #E1]"

    played = rewoo.play([plan, "<think>hm</think>q", "done"])

    assert played.state.turns[1].actions[0].observation.text == "q"
    assert [call.purpose for call in played.calls] == ["plan_steps", "work", "solve"]


def test_a_model_that_says_nothing_in_its_step_has_failed_at_it(rewoo: Any) -> None:
    played = rewoo.play(["#E1 = LLM[say]", "", "Plan: answer directly", "unknown"])

    assert played.state.turns[0].actions[0].observation.error == "ToolFailed"
    assert played.outcome.partial


def test_the_rest_is_planned_anew_after_a_failure(rewoo: Any) -> None:
    plan = f"{ONE}\nPlan: break\n#E2 = broken[#E1]\nPlan: use\n#E3 = search[#E2]"

    played = rewoo.play([plan, "Plan: other\n#E4 = search[again #E1]", "done"])

    assert [call.tool for call in actions(played)] == ["search", "broken", "search"]
    assert actions(played)[2].inputs == {"query": "again ran q"}
    assert "ERROR: ToolFailed: cannot ran q" in asked(played.calls[1])
    assert (played.outcome.answer, played.outcome.partial) == ("done", False)


def test_a_failed_result_is_never_filled_in(rewoo: Any) -> None:
    replan = "Plan: use it all the same\n#E2 = search[#E1]"

    played = rewoo.play(["#E1 = broken[x]", replan, replan, "nothing found"])

    assert [call.tool for call in actions(played)] == ["broken"]
    assert "no earlier step gives" in json.loads(played.calls[2].request)["messages"][0]["content"]
    assert played.outcome.partial


def test_failures_are_reflected_on_a_few_times_only(rewoo: Any) -> None:
    again = "Plan: again\n#E1 = broken[x]"

    played = rewoo.play([again, again, again, "nothing found"], max_turns=9)

    assert [call.purpose for call in played.calls][1:] == ["plan_again", "plan_again", "solve"]
    assert (played.outcome.status, played.outcome.partial) == (Status.SUCCEEDED, True)
    assert played.outcome.message == "#E1 of the plan failed, and no other way was found."


def test_no_reflection_at_all_can_be_chosen(rewoo: Any) -> None:
    played = rewoo.play(["#E1 = broken[x]", "nothing found"], max_reflections=0)

    assert [call.purpose for call in played.calls] == ["plan_steps", "solve"]


def test_a_plan_without_steps_is_answered_at_once(rewoo: Any) -> None:
    played = rewoo.play(["Plan: answer directly", "Hello!"])

    assert (played.outcome.answer, played.outcome.partial) == ("Hello!", False)
    assert actions(played) == []


def test_a_plan_that_is_never_readable_is_said_so(rewoo: Any) -> None:
    played = rewoo.play(["#E1 is what I need", "#E1 again", "I do not know."])

    assert actions(played) == []
    assert (played.outcome.partial, played.outcome.message) == (
        True,
        "The plan could not be read to its end.",
    )


def test_an_unknown_tool_is_a_failed_step(rewoo: Any) -> None:
    played = rewoo.play(["#E1 = ghost[x]", "Plan: answer directly", "no"])

    assert played.state.turns[0].actions[0].observation.error == "ToolNotFound"


def test_a_plan_longer_than_the_turns_runs_out_of_them(rewoo: Any) -> None:
    played = rewoo.play([TWO, "so far"], max_turns=1)

    assert (played.outcome.status, played.outcome.reason) == (Status.EXHAUSTED, EndReason.TURNS)
    assert (played.outcome.answer, played.outcome.partial) == ("so far", True)


def test_the_demo_plans_with_names(rewoo: Any) -> None:
    played = rewoo.play(goal="What is 6 * 7?", provider=DemoProvider(rate=None), tools=[calculator])

    assert "#E1 = calculator[" in played.state.turns[0].thought.text
    assert "42" in played.outcome.answer
