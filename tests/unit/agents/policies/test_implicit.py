"""The implicit policy: JSON nodes, and tools found, chosen and filled just in time."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import EndReason, Status, ThoughtKind, ToolCall
from agents.control import Control
from agents.events import AnswerDelta, ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.prompting.prompts import enclosed
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit


@pytest.fixture
def implicit(stage: Callable[[str], Any]) -> Any:
    return stage("implicit")


def node(kind: str, text: str) -> str:
    return json.dumps({"kind": kind, "text": text})


DO = node("ACTION", "send hi to channel 1")
DONE = node("FINAL", "sent")


def test_an_instruction_finds_its_tool_and_its_inputs(implicit: Any) -> None:
    played = implicit.play([DO, "search", '{"query": "hi", "zzz": 9}', DONE], goal="send hi")

    assert played.state.turns[0].actions[0].call == ToolCall(tool="search", inputs={"query": "hi"})
    assert [call.purpose for call in played.calls] == [
        "think",
        "choose_tool",
        "fill_inputs",
        "think",
    ]


def test_the_transcript_tells_the_run_line_by_line(implicit: Any) -> None:
    played = implicit.play([DO, "search", '{"query": "hi"}', DONE], goal="send hi")

    assert played.state.transcript() == (
        "Goal: send hi\nACTION: send hi to channel 1\nACTION_EXECUTED: tool_id=search\n"
        "OBSERVATION: ran hi\nFINAL: sent"
    )


def test_the_next_thought_sees_the_transcript(implicit: Any) -> None:
    played = implicit.play([DO, "search", '{"query": "hi"}', DONE])

    asked = json.loads(played.calls[-1].request)["messages"][-1]["content"]
    observed = f"OBSERVATION:\n{enclosed('observation', 'ran hi')}"
    assert asked.endswith(f"ACTION_EXECUTED: tool_id=search\n{observed}")


@pytest.mark.parametrize("reply", ["bad", "", '{"kind": "FINAL", "text": ""}', '{"kind": "X"}'])
def test_an_unreadable_node_costs_a_turn_and_no_more(implicit: Any, reply: str) -> None:
    played = implicit.play([reply, DONE])

    first = played.state.turns[0].thought
    assert first.kind is ThoughtKind.THOUGHT
    assert first.text == "Continuing reasoning to determine next step."
    assert played.outcome.answer == "sent"


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ("none", "No suitable tool selected for step: send hi to channel 1"),
        ("", "No suitable tool selected for step: send hi to channel 1"),
        ("ghost", "Selected tool id 'ghost' not in candidate list"),
    ],
)
def test_a_step_without_a_tool_becomes_an_observation(
    implicit: Any, chosen: str, text: str
) -> None:
    played = implicit.play([DO, chosen, DONE])

    turn = played.state.turns[0]
    (action,) = turn.actions
    assert (action.call, action.observation.error) == (None, "ToolSelectionError")
    assert action.observation.text == text
    assert f"OBSERVATION: ERROR: ToolSelectionError: {text}" in played.state.transcript()


@pytest.mark.parametrize(
    "said", ["`search`", "Search", '"search"', "<think>add?</think>\nsearch", "search."]
)
def test_the_chosen_name_is_read_past_what_surrounds_it(implicit: Any, said: str) -> None:
    played = implicit.play([DO, said, '{"query": "hi"}', DONE])

    assert played.state.turns[0].actions[0].call.tool == "search"


def test_wrong_inputs_are_asked_for_again_with_what_is_wrong(implicit: Any) -> None:
    played = implicit.play([DO, "add", "no json", '{"left": "x"}', '{"left": 1}', DONE])

    assert played.state.turns[0].actions[0].observation.text == "2"
    last_try = json.loads(played.calls[4].request)["messages"]
    assert "left" in last_try[-1]["content"]


def test_inputs_that_stay_wrong_become_an_observation(implicit: Any) -> None:
    played = implicit.play([DO, "add", "no", "no", "no", DONE])

    assert played.state.turns[0].actions[0].observation.error == "InvalidInputs"
    assert played.outcome.status is Status.SUCCEEDED


def test_a_failed_tool_becomes_an_observation(implicit: Any) -> None:
    played = implicit.play([DO, "broken", '{"text": "x"}', DONE])

    assert "OBSERVATION: ERROR: ToolFailed: cannot x" in played.state.transcript()


def test_a_tool_that_keeps_failing_is_not_offered_again(implicit: Any) -> None:
    failing = [call for n in range(3) for call in (DO, "broken", json.dumps({"text": str(n)}))]

    played = implicit.play([*failing, DO, "broken", DONE], max_turns=9)

    assert (
        played.state.turns[3].actions[0].observation.text
        == "Selected tool id 'broken' not in candidate list"
    )


def test_only_the_likely_tools_are_in_the_prompt(implicit: Any) -> None:
    def make(number: int) -> Any:
        def function(text: str) -> str:
            return text

        function.__name__ = f"tool_{number}"
        function.__doc__ = f"Do the thing of number{number}."
        return tool()(function)

    played = implicit.play(
        [node("ACTION", "do the thing of number77"), "tool_77", '{"text": "x"}', DONE],
        tools=[make(number) for number in range(100)],
    )

    asked = json.loads(played.calls[1].request)["messages"][-1]["content"]
    assert asked.count("\n- tool_") == 15
    assert played.state.turns[0].actions[0].call.tool == "tool_77"


def test_no_tools_at_all_are_said_so_without_a_call(implicit: Any) -> None:
    played = implicit.play([DO, DONE], tools=[])

    assert played.state.turns[0].actions[0].observation.error == "ToolSelectionError"
    assert [call.purpose for call in played.calls] == ["think", "think"]


def test_an_answer_streams_as_it_is_kept(implicit: Any) -> None:
    played = implicit.play([{"say": node("FINAL", 'one\n"two" é'), "chunk": 1}])

    streamed = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert streamed == played.outcome.answer == 'one\n"two" é'


def test_thoughts_alone_run_out_of_turns(implicit: Any) -> None:
    played = implicit.play(
        [*(node("THOUGHT", str(n)) for n in range(3)), "Only thoughts."], max_turns=3
    )

    assert played.outcome.status is Status.EXHAUSTED
    assert played.outcome.reason is EndReason.TURNS
    assert played.state.transcript() == "Goal: Q?\nTHOUGHT: 0\nTHOUGHT: 1\nTHOUGHT: 2"


def test_a_model_that_is_down_is_no_thought(implicit: Any) -> None:
    played = implicit.play([DO, {"fail": "unreachable", "message": "nobody there"}])

    assert (played.outcome.status, played.outcome.reason) == (Status.FAILED, EndReason.PROVIDER)
    assert played.outcome.message == "nobody there"
    assert played.state.turns[0].thought.kind is ThoughtKind.ACTION


def test_an_answer_behind_a_label_is_one_at_once(implicit: Any) -> None:
    played = implicit.play(["Thought: I know it.\nFinal Answer: sent"])

    assert (played.outcome.answer, len(played.calls)) == ("sent", 1)


def test_a_call_in_the_markup_of_a_family_is_carried_out_without_a_choice(implicit: Any) -> None:
    call = '<tool_call>{"name": "search", "arguments": {"query": "hi"}}</tool_call>'
    played = implicit.play([call, DONE])

    assert played.state.turns[0].actions[0].call == ToolCall(tool="search", inputs={"query": "hi"})
    assert [call.purpose for call in played.calls] == ["think", "think"]


NO_INPUTS = ["no", "{}", '{"left": "x"}']


def test_steps_that_cannot_be_filled_end_the_run_within_eight_calls(implicit: Any) -> None:
    asked = node("ACTION", "add one")
    played = implicit.play([asked, "add", *NO_INPUTS, asked, "Hello."], max_turns=20)

    assert (played.outcome.status, played.outcome.partial) == (Status.EXHAUSTED, True)
    assert (played.outcome.reason, played.outcome.answer) == (EndReason.FAILURES, "Hello.")
    assert "did not keep to the form" in played.outcome.message
    assert "Another model may" in played.outcome.message


def test_after_inputs_that_never_fitted_there_is_a_call_left_to_answer(implicit: Any) -> None:
    played = implicit.play([node("ACTION", "add one"), "add", *NO_INPUTS, DONE], max_turns=20)

    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "sent")


FRUITLESS = st.lists(
    st.sampled_from(
        [
            *(
                "Hi",
                "",
                "{}",
                '{"kind": "ACTION", "text": "greet"}',
                '{"left": "x"}',
                "add",
                "none",
            ),
            *(node("THOUGHT", "Let me see."), node("ACTION", "add one"), "ghost", "search"),
        ]
    ),
    max_size=16,
)


@given(replies=FRUITLESS)
def test_a_run_in_which_nothing_is_carried_out_takes_eight_calls_at_most(
    replies: list[str],
) -> None:
    @tool()
    def add(left: int) -> str:
        """Add one."""
        return str(left + 1)

    script = [*({"say": reply} for reply in replies), *[{"say": node("ACTION", "add")}] * 20]
    model = Model(ScriptedProvider(script), Control())
    state = State("Hi! How are you?")
    parts = Parts(model, Toolkit([add]), Limits(max_turns=20))

    events = list(run(build(PolicySpec(policy="implicit"), parts), state, Control()))

    assert not any(turn.calls for turn in state.turns)
    assert sum(isinstance(event, ModelCalled) for event in events) <= 8
    assert state.outcome is not None
    assert state.outcome.reason in (EndReason.ANSWERED, EndReason.FAILURES)


def test_more_calls_may_come_to_nothing_where_a_version_says_so(implicit: Any) -> None:
    thoughts = [node("THOUGHT", f"thought {n}") for n in range(9)]

    assert implicit.play([*thoughts, DONE], max_turns=20).outcome.reason is EndReason.FAILURES
    played = implicit.play([*thoughts, DONE], max_turns=20, max_fruitless=10)
    assert played.outcome.status is Status.SUCCEEDED
