"""The rules of what comes next, and the limits around them."""

import pytest

from agents.contracts import (
    Decision,
    EndReason,
    Observation,
    Step,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.decide import FailureLimit, RepeatLimit, TurnLimit, react, react_in_text
from agents.state import State

THINK = Decision(step=Step.THINK)
TOOL = Decision(step=Step.TOOL)
ANSWERED = Decision(step=Step.HALT, reason=EndReason.ANSWERED)
SEEN = Observation(text="seen")


def state(*turns: tuple[ThoughtKind | None, Observation | None]) -> State:
    return State(
        "Q?",
        turns=[
            Turn(
                index=index,
                thought=None if kind is None else Thought(kind=kind, text="t"),
                observation=observation,
            )
            for index, (kind, observation) in enumerate(turns)
        ],
    )


def acted(*calls: ToolCall | None) -> State:
    return State(
        "Q?",
        turns=[
            Turn(
                index=index,
                thought=Thought(kind=ThoughtKind.ACTION, text="t"),
                action=call,
                observation=SEEN,
            )
            for index, call in enumerate(calls)
        ],
    )


@pytest.mark.parametrize(
    ("before", "decision"),
    [
        (state(), THINK),
        (state((None, None)), THINK),
        (state((ThoughtKind.THOUGHT, None)), THINK),
        (state((ThoughtKind.ACTION, None)), TOOL),
        (state((ThoughtKind.ACTION, SEEN)), THINK),
        (state((ThoughtKind.FINAL, None)), ANSWERED),
    ],
)
def test_react_reasons_acts_and_halts(before: State, decision: Decision) -> None:
    assert react(before) == decision


def test_in_text_a_bare_thought_is_acted_on_with_a_reminder() -> None:
    assert react_in_text(state((ThoughtKind.THOUGHT, None))) == TOOL


@pytest.mark.parametrize(
    ("before", "decision"),
    [
        (state(), THINK),
        (state((ThoughtKind.THOUGHT, SEEN)), THINK),
        (state((ThoughtKind.ACTION, None)), TOOL),
        (state((ThoughtKind.FINAL, None)), ANSWERED),
    ],
)
def test_in_text_all_else_is_as_in_react(before: State, decision: Decision) -> None:
    assert react_in_text(before) == decision


def test_the_turn_limit_halts_where_one_more_would_be_too_many() -> None:
    before = state((ThoughtKind.THOUGHT, None), (ThoughtKind.THOUGHT, None))

    assert TurnLimit(react, 2)(before) == Decision(step=Step.HALT, reason=EndReason.TURNS)


def test_the_turn_limit_lets_a_begun_turn_finish() -> None:
    assert TurnLimit(react, 1)(state((ThoughtKind.ACTION, None))) == TOOL


def test_the_turn_limit_leaves_an_answer_alone() -> None:
    assert TurnLimit(react, 1)(state((ThoughtKind.FINAL, None))) == ANSWERED


ADD = ToolCall(tool="add", inputs={"left": 1})
OTHER = ToolCall(tool="add", inputs={"left": 2})


def test_the_same_action_three_times_in_a_row_halts() -> None:
    halt = Decision(step=Step.HALT, reason=EndReason.REPEATS)

    assert RepeatLimit(react)(acted(OTHER, ADD, ADD, ADD)) == halt


@pytest.mark.parametrize(
    "before",
    [
        acted(),
        acted(ADD, ADD),
        acted(ADD, OTHER, ADD),
        acted(ADD, ADD, None, ADD),
        acted(None, None, None),
    ],
)
def test_anything_else_is_no_circle(before: State) -> None:
    assert RepeatLimit(react)(before) == THINK


FAILED = Observation(text="no", error="ToolFailed")


def test_a_row_of_failures_halts_the_run() -> None:
    decide = FailureLimit(react, times=2)

    decision = decide(state((ThoughtKind.ACTION, FAILED), (ThoughtKind.ACTION, FAILED)))

    assert decision == Decision(step=Step.HALT, reason=EndReason.FAILURES)


@pytest.mark.parametrize("between", [SEEN, None])
def test_only_failures_in_a_row_count(between: Observation | None) -> None:
    turns = [
        (ThoughtKind.ACTION, FAILED),
        (ThoughtKind.THOUGHT, between),
        (ThoughtKind.ACTION, FAILED),
    ]

    assert FailureLimit(react, times=2)(state(*turns)) == THINK


def test_an_answer_after_failures_is_an_answer() -> None:
    turns = [(ThoughtKind.ACTION, FAILED), (ThoughtKind.ACTION, FAILED), (ThoughtKind.FINAL, None)]

    assert FailureLimit(react, times=2)(state(*turns)) == ANSWERED
