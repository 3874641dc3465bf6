"""The explicit policy: Thought, Action, Action Input, Observation, Final Answer, as text."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from agents.contracts import EndReason, Exchange, Status, ThoughtKind, ToolCall
from agents.events import AnswerDelta, ObservationDelta, ThoughtDelta
from agents.prompting.prompts import enclosed


@pytest.fixture
def explicit(stage: Callable[[str], Any]) -> Any:
    return stage("explicit")


ACT = "s\nAction: search\nAction Input: q"
ANSWER = "enough\nFinal Answer: ok"


def last_message(body: str) -> str:
    return str(json.loads(body)["messages"][-1]["content"])


def test_an_answer_ends_the_run(explicit: Any) -> None:
    played = explicit.play(["Thought: ok\nFinal Answer: hi"])

    assert played.outcome.status is Status.SUCCEEDED
    assert played.outcome.answer == "hi"
    assert [turn.thought.kind for turn in played.state.turns] == [ThoughtKind.FINAL]


def test_an_action_is_carried_out_and_observed_in_one_turn(explicit: Any) -> None:
    played = explicit.play([ACT, ANSWER])

    turn = played.state.turns[0]
    assert turn.calls == (ToolCall(tool="search", inputs={"query": "q"}),)
    assert turn.actions[0].observation.text == "ran q"
    assert len(played.state.turns) == 2


def test_the_scratchpad_shows_the_step_as_the_model_wrote_it(explicit: Any) -> None:
    played = explicit.play([ACT, ANSWER])

    asked = last_message(played.calls[1].request)
    assert asked.endswith(
        "\nThought: s\nAction: search\nAction Input: q\n"
        f"Observation:\n{enclosed('observation', 'ran q')}\nThought: "
    )


def test_requests_share_all_but_their_end(explicit: Any) -> None:
    played = explicit.play([ACT, "garbage", 't\nAction: add\nAction Input: {"left": 2}', ANSWER])

    asked = [last_message(call.request).removesuffix("Thought: ") for call in played.calls]
    assert all(later.startswith(earlier) for earlier, later in pairwise(asked))


def test_the_question_stands_verbatim_in_every_request(explicit: Any) -> None:
    goal = 'Line one\nObservation: 3\n  {{ odd }} <question id="x">'

    played = explicit.play([ACT, ANSWER], goal=goal)

    assert all(goal in last_message(call.request) for call in played.calls)


def test_earlier_exchanges_come_as_messages(explicit: Any) -> None:
    played = explicit.play([ANSWER], history=[Exchange(question="Who?", answer="Me.")])

    messages = json.loads(played.calls[0].request)["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in messages[1:3]] == ["Who?", "Me."]


def test_the_prompt_lists_the_tools(explicit: Any) -> None:
    played = explicit.play([ANSWER])

    rules = json.loads(played.calls[0].request)["messages"][0]["content"]
    assert "- search: Search the web for a text." in rules


def test_a_reply_without_the_format_gets_a_reminder_and_costs_a_turn(explicit: Any) -> None:
    played = explicit.play(["garbage", ANSWER])

    first = played.state.turns[0]
    assert (first.thought.kind, first.thought.text) == (ThoughtKind.THOUGHT, "garbage")
    assert first.actions[0].observation.error == "ParseError"
    assert played.outcome.answer == "ok"


def test_the_next_request_says_what_was_wrong_and_the_form_that_is_wanted(explicit: Any) -> None:
    played = explicit.play(["garbage", ANSWER])

    asked = last_message(played.calls[1].request)
    assert "neither an action nor an answer:\n\ngarbage\n" in asked
    assert "`Action Input:`" in asked
    assert asked.endswith("\nThought: ")


def test_a_second_reply_without_a_label_is_the_answer(explicit: Any) -> None:
    played = explicit.play(["Hello!", "Hello, how can I help?"])

    assert played.outcome.status is Status.SUCCEEDED
    assert played.outcome.answer == "Hello, how can I help?"
    assert "".join(e.text for e in played.events if isinstance(e, AnswerDelta)) == (
        "Hello, how can I help?"
    )


def test_a_model_that_keeps_to_no_form_is_named_as_the_reason(explicit: Any) -> None:
    half = 'Thought: t\nAction Input: {"query": "q"}'

    played = explicit.play([half, half, half, "the best I have"], max_turns=9)

    assert len(played.state.turns) == 3
    assert played.outcome.reason is EndReason.FAILURES
    assert "did not keep to the form" in played.outcome.message
    assert played.outcome.partial


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: 42",
        "**Final Answer**\n\n42",
        "## Final Answer\n42",
        "Thought: t\nAction: Finish[42]",
        "Action: Final Answer\nAction Input: 42",
        '{"action": "Final Answer", "action_input": "42"}',
    ],
)
def test_an_answer_in_other_words_is_one_at_once(explicit: Any, reply: str) -> None:
    played = explicit.play([reply])

    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "42")


def test_a_draft_before_the_end_of_a_thought_is_never_carried_out(explicit: Any) -> None:
    draft = "Hm.\nAction: search\nAction Input: draft\n</think>\n"

    played = explicit.play([f"{draft}{ACT}", f"{draft}{ANSWER}"])

    assert [call.inputs for turn in played.state.turns for call in turn.calls] == [{"query": "q"}]
    assert played.outcome.answer == "ok"
    assert "Action Input: draft" in played.state.turns[0].thought.text


def test_calls_in_a_models_own_markup_are_actions(explicit: Any) -> None:
    one = '<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>'
    other = one.replace('"a"', '"b"')

    played = explicit.play([f"Both.\n{one}\n{other}", ANSWER])

    turn = played.state.turns[0]
    assert [call.inputs["query"] for call in turn.calls] == ["a", "b"]
    assert turn.thought.text == "Both."


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("ghost", "ToolNotFound", "Unknown tool: ghost. Available tools: search, add"),
        ("broken", "ToolFailed", "cannot q"),
        ("crashing", "ToolFailed", "crashing broke"),
        ("add", "InvalidInputs", "It takes: left (integer, required)"),
    ],
)
def test_a_failed_action_is_an_observation_and_the_run_goes_on(
    explicit: Any, name: str, kind: str, text: str
) -> None:
    played = explicit.play([f"s\nAction: {name}\nAction Input: q", ANSWER])

    observation = played.state.turns[0].actions[0].observation
    assert observation.error == kind
    assert text in observation.text
    assert f">\nERROR: {kind}: " in last_message(played.calls[1].request)
    assert played.outcome.status is Status.SUCCEEDED


def test_a_tool_is_found_however_its_name_is_written(explicit: Any) -> None:
    played = explicit.play(["s\nAction: `Search`\nAction Input: q", ANSWER])

    assert played.state.turns[0].actions[0].call.tool == "search"


def test_an_invented_observation_is_cut_and_the_tool_really_runs(explicit: Any) -> None:
    played = explicit.play([f"{ACT}\nObservation: 42\nFinal Answer: 42", ANSWER])

    assert played.state.turns[0].actions[0].observation.text == "ran q"
    assert played.outcome.answer == "ok"


def test_the_reply_is_not_read_on_once_it_is_decided(explicit: Any) -> None:
    talks_on = f"{ACT}\nObservation: 42\nFinal Answer: 42 and so on"

    played = explicit.play([ACT, talks_on, ANSWER])

    assert played.calls[1].stop_reason == "enough"
    assert "and so on" not in played.calls[1].reply


def test_the_first_reply_of_a_model_is_read_to_its_end(explicit: Any) -> None:
    played = explicit.play([f"{ACT}\nObservation: 42\nFinal Answer: 42", ANSWER])

    assert played.calls[0].stop_reason == "stop"
    assert [call.tool for call in played.state.turns[0].calls] == ["search"]


def test_the_streamed_answer_is_the_kept_answer(explicit: Any) -> None:
    played = explicit.play([{"say": "t\n**Final Answer:**  one\n\ntwo \n", "chunk": 2}])

    streamed = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert streamed == played.outcome.answer == "one\n\ntwo"


def test_no_label_is_shown_as_thought(explicit: Any) -> None:
    played = explicit.play([{"say": f"Thought: {ACT}", "chunk": 3}, ANSWER])

    thought = "".join(event.text for event in played.events[:20] if isinstance(event, ThoughtDelta))
    assert thought.startswith("s")
    assert "Action" not in thought


def test_what_a_reasoning_model_says_to_itself_is_kept_as_thought(explicit: Any) -> None:
    played = explicit.play([{"say": "t\nFinal Answer: ok", "reasoning": "Let me see."}])

    assert played.state.turns[0].thought.text == "Let me see.\n\nt"
    assert played.calls[0].reasoning == "Let me see."


def test_a_tool_streams_its_output(explicit: Any) -> None:
    played = explicit.play(["s\nAction: crashing\nAction Input: q", ANSWER])

    assert ObservationDelta(text="half ") in played.events


def test_a_run_out_of_turns_sums_up_and_is_no_success(explicit: Any) -> None:
    script = [f"s\nAction: search\nAction Input: {n}" for n in range(3)] + ["Perhaps 2."]

    played = explicit.play(script, max_turns=3)

    assert played.outcome.status is Status.EXHAUSTED
    assert played.outcome.reason is EndReason.TURNS
    assert (played.outcome.answer, played.outcome.partial) == ("Perhaps 2.", True)
    assert played.outcome.message == "Ran out of turns (3 of 3)."
    assert len(played.state.turns) == 3


def test_a_model_that_repeats_itself_is_ended(explicit: Any) -> None:
    played = explicit.play([ACT, ACT, ACT, "Nothing new."], max_turns=50)

    assert played.outcome.reason is EndReason.REPEATS
    assert played.outcome.status is Status.EXHAUSTED
    assert len(played.state.turns) == 3


def test_a_model_that_is_down_fails_the_run_and_keeps_the_turns(explicit: Any) -> None:
    played = explicit.play([ACT, {"fail": "busy", "after": "half a thou", "message": "500"}])

    assert (played.outcome.status, played.outcome.reason) == (Status.FAILED, EndReason.PROVIDER)
    assert played.outcome.message == "500"
    assert played.state.turns[0].actions[0].observation.text == "ran q"
    assert played.state.turns[1].thought.text == "half a thou"
    assert played.calls[-1].error == "500"


def test_an_answer_that_breaks_off_is_kept_as_partial(explicit: Any) -> None:
    played = explicit.play([{"fail": "truncated", "after": "t\nFinal Answer: half an ans"}])

    assert played.outcome.status is Status.FAILED
    assert (played.outcome.answer, played.outcome.partial) == ("half an ans", True)


def test_an_action_of_a_megabyte_is_only_an_observation_away(explicit: Any) -> None:
    played = explicit.play([f"s\nAction: {'x' * 1_000_000}\nAction Input: q", ANSWER])

    assert played.state.turns[0].actions[0].observation.error == "ToolNotFound"
    assert len(played.state.turns[0].actions[0].call.tool) <= 100


def test_inputs_of_several_names_are_written_the_same_way_each_time(explicit: Any) -> None:
    played = explicit.play(['s\nAction: add\nAction Input: {"right": 2, "left": 3}', ANSWER])

    asked = last_message(played.calls[1].request)
    assert 'Action Input: {"left": 3, "right": 2}\nObservation:\n<' in asked
