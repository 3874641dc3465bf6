"""The end of a run: its answer, or the best that can honestly be said."""

from typing import Any

import pytest

from agents.contracts import (
    Action,
    EndReason,
    Observation,
    Outcome,
    Status,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.control import Control
from agents.errors import ConfigurationError
from agents.events import AnswerDelta, Event, ModelCalled, RunEnded
from agents.model.model import Model
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.summarize import ExplainedSummary, FinalAnswer
from agents.text import CUT_SHORT


def close(script: list[dict[str, Any]], *nodes: Thought, halted: EndReason) -> list[Event]:
    turns = [Turn(index=index, thought=node) for index, node in enumerate(nodes)]
    model = Model(ScriptedProvider(script), Control())
    return list(FinalAnswer(model, max_turns=2)(State("Q?", turns=turns, halted=halted)))


def outcome(events: list[Event]) -> Outcome:
    assert isinstance(events[-1], RunEnded)
    return events[-1].outcome


THOUGHT = Thought(kind=ThoughtKind.THOUGHT, text="hmm")


def test_an_answer_is_given_without_another_call() -> None:
    final = Thought(kind=ThoughtKind.FINAL, text="", answer="x")

    events = close([], final, halted=EndReason.ANSWERED)

    ended = Outcome(status=Status.SUCCEEDED, reason=EndReason.ANSWERED, answer="x")
    assert events == [RunEnded(outcome=ended)]


def test_without_an_answer_the_model_sums_up_without_tools() -> None:
    events = close([{"say": "About 3."}], THOUGHT, THOUGHT, halted=EndReason.TURNS)

    assert [event.call.purpose for event in events if isinstance(event, ModelCalled)] == [
        "summarize"
    ]
    assert outcome(events) == Outcome(
        status=Status.EXHAUSTED,
        reason=EndReason.TURNS,
        answer="About 3.",
        partial=True,
        message="Ran out of turns (2 of 2).",
    )


def test_an_answer_that_is_cut_is_no_success() -> None:
    final = Thought(kind=ThoughtKind.FINAL, text="t", answer=f"About 3{CUT_SHORT}")

    ended = outcome(close([], final, halted=EndReason.ANSWERED))

    assert (ended.status, ended.reason) == (Status.EXHAUSTED, EndReason.ANSWERED)
    assert (ended.partial, ended.answer) == (True, final.answer)
    assert ended.message == "The model stopped before its answer was complete."


def test_the_summary_streams() -> None:
    words = "About three of them were found in the places that were looked at. " * 9

    events = close([{"say": words}], THOUGHT, halted=EndReason.TURNS)

    pieces = [e.text for e in events if isinstance(e, AnswerDelta)]
    assert len(pieces) > 9
    assert "".join(pieces) == outcome(events).answer == words.strip()


@pytest.mark.parametrize(
    "reply",
    [
        "<think>secret</think>42",
        "secret</think>42",
        "Thought: secret\nFinal Answer: 42",
        "<__final_answer__>Final Answer: 42</__final_answer__>",
        "**Final Answer:** 42",
        "42<|im_end|>",
    ],
)
def test_only_the_answer_of_a_summary_is_kept(reply: str) -> None:
    events = close([{"say": reply}], THOUGHT, halted=EndReason.TURNS)

    assert outcome(events).answer == "42"


def test_a_call_in_place_of_a_summary_is_no_answer() -> None:
    call = '<tool_call>{"name": "search", "arguments": {"query": "q"}}</tool_call>'

    events = close([{"say": call}], THOUGHT, halted=EndReason.TURNS)

    assert outcome(events).answer == "ERROR: insufficient data for a reliable answer."


def test_an_empty_summary_is_said_to_be_insufficient() -> None:
    events = close([{"say": " "}], THOUGHT, halted=EndReason.TURNS)

    assert outcome(events).answer == "ERROR: insufficient data for a reliable answer."
    assert outcome(events).status is Status.EXHAUSTED


def test_a_summary_that_breaks_off_is_kept_and_said_to_have_failed() -> None:
    broken = {"fail": "truncated", "after": "About ", "message": "The line broke."}

    events = close([broken], THOUGHT, halted=EndReason.TURNS)

    assert outcome(events).answer == "About"
    assert outcome(events).message.endswith("could not sum up what it found: The line broke.")
    assert outcome(events).reason is EndReason.TURNS


def test_repeats_are_named_as_the_reason() -> None:
    events = close([{"say": "No."}], THOUGHT, halted=EndReason.REPEATS)

    assert outcome(events).reason is EndReason.REPEATS
    assert "repeated" in outcome(events).message


def test_a_wrong_set_up_is_not_taken_for_a_failing_model() -> None:
    with pytest.raises(ConfigurationError):
        close([], THOUGHT, halted=EndReason.TURNS)


def looked(*names: str) -> Turn:
    """Return a turn that called these tools, each elsewhere."""
    thought = Thought(kind=ThoughtKind.ACTION, text="t")
    seen = Observation(text="seen " * 50)
    actions = (
        Action(call=ToolCall(tool=name, inputs={"at": number}), observation=seen)
        for number, name in enumerate(names)
    )
    return Turn(index=0, thought=thought, actions=tuple(actions))


@pytest.mark.parametrize(
    ("turns", "times"),
    [
        ([looked("look")] * 2 + [looked("look", "look")], 4),
        ([looked("read", "look"), looked("look"), looked("look", "look")], 4),
        ([looked("look", "read"), looked("look"), looked("look", "look")], 3),
        ([looked("look"), looked(), looked("look"), looked("look", "look")], 3),
    ],
)
def test_a_tool_that_was_called_again_and_again_is_named_with_how_often(
    turns: list[Turn], times: int
) -> None:
    model = Model(ScriptedProvider([{"say": "No."}]), Control())
    state = State("Q?", turns=turns, halted=EndReason.REPEATS)

    events = list(ExplainedSummary(FinalAnswer(model, max_turns=9))(state))

    assert outcome(events).message == f"Tool 'look' called {times} times in a row."
