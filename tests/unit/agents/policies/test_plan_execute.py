"""The policy plan_execute: one plan with all its calls, the calls in order, one answer."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from agents.contracts import EndReason, Status, ThoughtKind
from agents.events import AnswerDelta, ThoughtDelta
from agents.tools.spec import Safety, tool


def plan(*calls: tuple[str, dict[str, Any]], before: str = "") -> str:
    written = [{"callId": str(n), "toolName": t, "arguments": a} for n, (t, a) in enumerate(calls)]
    return f"{before}Intent: i\nPlan: p\nTool Calls: {json.dumps(written)}"


ADD = ("add", {"left": 2, "right": 3})
SEARCH = ("search", {"query": "q"})
BROKEN = ("broken", {"text": "x"})


def results(played: Any) -> Sequence[str]:
    return [seen.text for turn in played.state.turns for seen in turn.observations]


def test_all_calls_are_made_in_order_and_one_a_turn(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play([plan(ADD, SEARCH), "It is 5."])

    assert results(played) == ["5", "ran q"]
    assert [turn.thought.kind for turn in played.state.turns] == [
        ThoughtKind.ACTION,
        ThoughtKind.ACTION,
        ThoughtKind.FINAL,
    ]


def test_the_model_is_asked_twice_whatever_the_number_of_calls(
    stage: Callable[[str], Any],
) -> None:
    played = stage("plan_execute").play([plan(ADD, SEARCH, ADD), "5"])

    assert [call.purpose for call in played.calls] == ["plan", "synthesize"]


def test_the_synthesis_sees_each_call_with_its_result(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play([plan(ADD, BROKEN), "5"])

    asked = json.loads(played.calls[1].request)["messages"][-1]["content"]
    assert 'Call: add {"left": 2, "right": 3}' in asked
    assert "ERROR: ToolFailed: cannot x" in asked


def test_a_failed_call_makes_the_answer_partial_and_the_others_are_made(
    stage: Callable[[str], Any],
) -> None:
    played = stage("plan_execute").play([plan(BROKEN, ADD), "Only 5."])

    outcome = played.outcome
    assert (outcome.status, outcome.partial, outcome.answer) == (Status.SUCCEEDED, True, "Only 5.")
    assert outcome.message == "Tool execution errors occurred. 1 of 2 calls failed."
    assert results(played) == ["cannot x", "5"]


def test_calls_that_all_went_well_are_no_partial_answer(stage: Callable[[str], Any]) -> None:
    outcome = stage("plan_execute").play([plan(ADD), "5"]).outcome

    assert (outcome.status, outcome.partial, outcome.message) == (Status.SUCCEEDED, False, "")


def test_a_plan_without_calls_is_answered_at_once(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play([plan(), "Hello!"])

    assert (played.outcome.answer, played.outcome.partial) == ("Hello!", False)
    assert not any(turn.calls for turn in played.state.turns)


def test_a_planning_error_ends_the_run_and_calls_nothing(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play([{"fail": "busy", "after": plan(ADD), "message": "Full."}])

    outcome = played.outcome
    assert (outcome.status, outcome.reason, outcome.message) == (
        Status.FAILED,
        EndReason.PROVIDER,
        "Full.",
    )
    assert not any(turn.calls for turn in played.state.turns)


def test_a_synthesis_error_keeps_the_results_and_what_was_said(
    stage: Callable[[str], Any],
) -> None:
    played = stage("plan_execute").play([plan(ADD), {"fail": "truncated", "after": "It is"}])

    assert (played.outcome.status, played.outcome.answer) == (Status.FAILED, "It is")
    assert results(played) == ["5"]


def test_an_empty_synthesis_is_no_answer(stage: Callable[[str], Any]) -> None:
    outcome = stage("plan_execute").play([plan(ADD), "<think>hm</think>  "]).outcome

    assert (outcome.status, outcome.answer) == (Status.FAILED, "")
    assert "nothing" in outcome.message


def test_calls_that_cannot_be_read_are_asked_for_once_more(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play(['Tool Calls: [{"toolName": "add"', plan(ADD), "5"])

    assert [call.purpose for call in played.calls] == ["plan", "plan", "synthesize"]
    assert "could not be read" in json.loads(played.calls[1].request)["messages"][0]["content"]
    assert (played.outcome.answer, played.outcome.partial) == ("5", False)


def test_what_a_second_plan_changes_is_told(stage: Callable[[str], Any]) -> None:
    before = 'Plan:\n1. add\n2. tell\nTool Calls: [{"toolName": "add"'
    after = "Plan:\n1. add\n2. say\n3. rest\nTool Calls: []"
    played = stage("plan_execute").play([before, after, "5"])

    told = played.state.turns[1].thought.text
    assert told.endswith("Steps of the plan: added 3; modified 2.")


def test_a_model_that_never_writes_calls_well_gets_to_say_so(stage: Callable[[str], Any]) -> None:
    bad = 'Tool Calls: [{"toolName": "add"'
    outcome = stage("plan_execute").play([bad, bad, "I could use no tool."]).outcome

    assert (outcome.answer, outcome.partial) == ("I could use no tool.", True)
    assert outcome.message == "The planned tool calls could not be read, so no tool was used."


def test_a_plan_longer_than_the_turns_runs_out_of_them(stage: Callable[[str], Any]) -> None:
    played = stage("plan_execute").play([plan(ADD, ADD, ADD), "So far 5."], max_turns=2)

    outcome = played.outcome
    assert (outcome.status, outcome.reason) == (Status.EXHAUSTED, EndReason.TURNS)
    assert (outcome.answer, outcome.partial) == ("So far 5.", True)
    assert results(played) == ["5", "5"]


def test_openai_style_calls_and_plain_text_arguments_are_carried_out(
    stage: Callable[[str], Any],
) -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "Search", "arguments": '"q"'}},
        {"id": "b", "function": {"name": "add", "arguments": '{"left": 1}'}},
    ]
    played = stage("plan_execute").play([f"Tool Calls: {json.dumps(calls)}", "done"])

    assert results(played) == ["ran q", "2"]


def test_arguments_of_the_wrong_shape_fail_as_an_observation(stage: Callable[[str], Any]) -> None:
    calls = [{"toolName": "add", "arguments": [1, 2]}, {"toolName": "add"}]
    played = stage("plan_execute").play([f"Tool Calls: {json.dumps(calls)}", "no"])

    assert [seen.error for turn in played.state.turns[:2] for seen in turn.observations] == [
        "InvalidInputs"
    ] * 2


def test_a_thought_never_leaks_into_the_answer_in_any_chunks(stage: Callable[[str], Any]) -> None:
    for chunk in (1, 2, 7, 1000):
        played = stage("plan_execute").play(
            [plan(), {"say": "<think>secret</think>Plain < text.", "chunk": chunk}]
        )
        said = "".join(e.text for e in played.events if isinstance(e, AnswerDelta))
        assert said == played.outcome.answer == "Plain < text."


def test_the_plan_is_shown_in_words_and_kept_as_it_was_shown(stage: Callable[[str], Any]) -> None:
    for chunk in (1, 3, 1000):
        said = {"say": plan(ADD, before="<think>hm</think>"), "chunk": chunk}
        played = stage("plan_execute").play([said, "5"])
        shown = [e.text for e in played.events if isinstance(e, ThoughtDelta)]
        thought = played.state.turns[0].thought
        assert "".join(shown) == thought.text
        assert thought.text == (
            'hm\n\nIntent: i\nPlan: p\n\nTool calls:\n1. add: {"left": 2, "right": 3}'
        )


def test_a_plan_written_as_json_is_shown_in_words_too(stage: Callable[[str], Any]) -> None:
    written = json.dumps({"intent": "i", "plan": ["a", "b"], "toolCalls": [{"tool": "search"}]})
    played = stage("plan_execute").play([f"```json\n{written}\n```", "no"])

    assert played.state.turns[0].thought.text == (
        "Intent: i\nPlan: 1. a\n2. b\n\nTool calls:\n1. search: {}"
    )


@tool()
def add(left: int, right: int = 1) -> str:
    """Add two whole numbers."""
    return str(left + right)


@tool(safety=Safety.DANGEROUS)
def erase(text: str) -> str:
    """Erase a text for good."""
    raise AssertionError("Nobody may run this unasked.")


def test_a_dangerous_call_is_refused_where_there_is_nobody_to_ask(
    stage: Callable[[str], Any],
) -> None:
    said = [plan(("erase", {"text": "x"}), ADD), "Only 5."]
    played = stage("plan_execute").play(said, tools=(erase, add))

    assert played.state.turns[0].actions[0].observation.error == "NotApproved"
    assert (played.outcome.answer, played.outcome.partial) == ("Only 5.", True)
