"""The self-repairing policy: one action as JSON, and bounded repair of what fails."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from agents.contracts import Exchange, Status, ToolCall
from agents.events import (
    ActionStarted,
    AnswerDelta,
    ObservationDelta,
    RunEnded,
    ThoughtDelta,
    TurnCompleted,
)
from agents.prompting.prompts import enclosed
from agents.state import State
from agents.tools.spec import Safety, tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.self_repair.replies import (
    ANSWER,
    act,
    asked,
    observations,
    purposes,
)


def test_an_action_is_carried_out_and_the_answer_ends_the_run(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q"), ANSWER])

    turn = played.state.turns[0]
    assert (turn.thought.text, turn.calls) == (
        "so",
        (ToolCall(tool="search", inputs={"query": "q"}),),
    )
    assert turn.actions[0].observation.text == "ran q"
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "ok")


def test_the_work_is_shown_as_the_model_wrote_it(self_repair: Any) -> None:
    played = self_repair.play([act("add", right=3, left=2), ANSWER])

    assert asked(played.calls[1]).endswith(
        '\nThought: so\nAction: {"tool": "add", "inputs": {"left": 2, "right": 3}}'
        f"\nObservation:\n{enclosed('observation', '5')}\nThought: "
    )


def test_requests_share_all_but_their_end(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q"), act("add", left=1), ANSWER])

    work = [asked(call).removesuffix("Thought: ") for call in played.calls]
    assert all(later.startswith(earlier) for earlier, later in pairwise(work))


def test_the_conversation_so_far_is_in_the_request(self_repair: Any) -> None:
    played = self_repair.play([ANSWER], history=[Exchange(question="before?", answer="yes")])

    said = [message["content"] for message in json.loads(played.calls[0].request)["messages"]]
    assert said[1:3] == ["before?", "yes"]


def test_unknown_inputs_are_left_out_before_the_tool_is_called(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q", zzz=1), ANSWER])

    assert played.state.turns[0].actions[0].call.inputs == {"query": "q"}
    assert purposes(played) == ["think", "think"]


def test_without_pruning_unknown_inputs_are_repaired(self_repair: Any) -> None:
    script = [act("search", query="q", zzz=1), act("search", query="q"), ANSWER]

    played = self_repair.play(script, prune_inputs=False)

    assert purposes(played) == ["think", "repair", "think"]
    assert observations(played)[1] == "ran q"


def test_the_final_flag_of_an_action_is_only_intent(self_repair: Any) -> None:
    final = 'so\nAction: {"tool": "search", "inputs": {"query": "q"}, "final_answer": true}'

    played = self_repair.play([final, ANSWER])

    assert played.outcome.answer == "ok"
    assert len(played.state.turns) == 2


def test_a_terminal_tool_answers_and_ends_the_run(self_repair: Any) -> None:
    @tool(terminal=True)
    def report() -> Iterator[str]:
        """Write the report."""
        yield from ("a", "b", "c")

    played = self_repair.play([act("report")], tools=[report])

    assert played.outcome.answer == "abc"
    assert sum(isinstance(event, RunEnded) for event in played.events) == 1
    assert "".join(e.text for e in played.events if isinstance(e, ObservationDelta)) == "abc"


def test_prose_forces_one_final_call(self_repair: Any) -> None:
    played = self_repair.play(["Paris, I believe.", "Final Answer: It is **Paris**."])

    assert purposes(played) == ["think", "final"]
    assert played.outcome.answer == "It is **Paris**."
    assert played.state.turns[0].thought.text == "Paris, I believe."


def test_prose_is_the_answer_where_the_final_call_says_nothing(self_repair: Any) -> None:
    played = self_repair.play(["The capital of France is Paris.", ""])

    assert played.outcome.status is Status.SUCCEEDED
    assert played.outcome.answer == "The capital of France is Paris."


def test_what_is_thought_in_the_final_call_is_no_answer(self_repair: Any) -> None:
    played = self_repair.play(
        [
            "Paris.",
            {"say": "<think>hm</think><__final_answer__>Paris</__final_answer__>", "chunk": 3},
        ]
    )

    assert played.outcome.answer == "Paris"


def test_an_empty_reply_is_no_answer(self_repair: Any) -> None:
    played = self_repair.play(["", "", act("search", query="q"), ANSWER])

    assert played.state.turns[0].actions[0].observation.text.startswith("The reply was empty.")
    assert purposes(played) == ["think", "final", "repair", "think"]


def test_a_model_that_gives_up_at_once_is_nudged_once(self_repair: Any) -> None:
    refusal = "I'm sorry, I don't have access to the web."

    played = self_repair.play([refusal, refusal])

    assert purposes(played) == ["think", "think"]
    assert observations(played)[0].startswith("You have tools for this.")
    assert played.state.turns[0].actions[0].observation.error is None
    assert played.outcome.answer == refusal


@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_no_part_of_a_marker_is_shown(self_repair: Any, chunk: int) -> None:
    said = "x < y\n<__final_answer__>a <b> c</__final_answer__> bye"

    played = self_repair.play([{"say": said, "chunk": chunk}])

    shown = "".join(e.text for e in played.events if isinstance(e, AnswerDelta))
    thought = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
    assert (thought, shown, played.outcome.answer) == ("x < y", "a <b> c", "a <b> c")


def test_a_version_can_ask_for_a_label_in_place_of_markers(self_repair: Any) -> None:
    played = self_repair.play(["x\nFinal Answer: ok"], has_markers=False)

    rules = json.loads(played.calls[0].request)["messages"][0]["content"]
    assert ("__final_answer__" in rules, "Final Answer:" in rules) == (False, True)
    assert played.outcome.answer == "ok"


def test_tools_can_be_swapped_while_the_run_goes_on(self_repair: Any) -> None:
    @tool()
    def old() -> str:
        """Do it the old way."""
        return "old"

    @tool()
    def new() -> str:
        """Do it the new way."""
        return "new"

    kit, state, events = Toolkit([old]), State("Q?"), []
    for event in self_repair.events([act("old"), act("new"), ANSWER], state, tools=kit):
        events.append(event)
        if isinstance(event, TurnCompleted):
            kit.replace([new])

    assert [seen.text for turn in state.turns[:2] for seen in turn.observations] == ["old", "new"]


def test_a_risky_tool_does_not_run_with_nobody_to_ask(self_repair: Any) -> None:
    @tool(safety=Safety.DANGEROUS)
    def remove(path: str) -> str:
        """Remove a file."""
        return "gone"

    played = self_repair.play([act("remove", path="a"), ANSWER], tools=[remove])

    assert played.state.turns[0].actions[0].observation.error == "NotApproved"
    assert not any(isinstance(event, ActionStarted) for event in played.events)
    assert purposes(played) == ["think", "think"]
