"""The rules of what comes next, and the limits around them."""

import pytest

from agents.contracts import (
    Action,
    EndReason,
    Image,
    Observation,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.decide import (
    FailureLimit,
    RepeatLimit,
    SameToolLimit,
    TurnLimit,
    react,
    react_in_text,
)
from agents.policy import Decide, Decision, Step
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
                actions=()
                if observation is None
                else (Action(call=None, observation=observation),),
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
                actions=(Action(call=call, observation=SEEN),),
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
LOOK = ToolCall(tool="look", inputs={})


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


def looked(*seen: tuple[ToolCall, str]) -> State:
    """Return a run of these calls with what came back of each."""
    return State("Q?", turns=[several((call, Observation(text=text))) for call, text in seen])


@pytest.mark.parametrize(
    ("steps", "is_circle"),
    [
        ([(LOOK, "1 of 9 done"), (LOOK, "2 of 9 done"), (LOOK, "3 of 9 done")], False),
        ([(LOOK, "at 09:59:58"), (LOOK, "at 09:59:59"), (LOOK, "at 10:00:00")], True),
        ([(ADD, "a"), (OTHER, "b"), (ADD, "a"), (OTHER, "b")], False),
        ([(ADD, "a"), (OTHER, "b"), (ADD, "a"), (OTHER, "b"), (ADD, "a")], True),
        ([(ADD, "a"), (OTHER, "b"), (ADD, "a"), (OTHER, "b"), (ADD, "z")], False),
        ([(ADD, "a"), (OTHER, "b"), (LOOK, "c")] * 2, True),
        ([(ADD, "a"), (OTHER, "b"), (LOOK, "c"), (LOOK, "d")] * 2, True),
        ([(ADD, "a"), (LOOK, "c"), (ADD, "a"), (LOOK, "c"), (OTHER, "b"), (ADD, "a")], False),
    ],
)
def test_a_circle_is_known_by_what_comes_back(
    steps: list[tuple[ToolCall, str]], is_circle: bool
) -> None:
    decision = RepeatLimit(react)(looked(*steps))

    assert (decision == Decision(step=Step.HALT, reason=EndReason.REPEATS)) is is_circle


def test_a_call_that_fails_alike_in_other_words_is_a_repeat() -> None:
    turns = [
        several((ADD, Observation(text=f"no, after {n} s", error="ToolFailed"))) for n in range(3)
    ]

    assert RepeatLimit(react)(State("Q?", turns=turns)).reason is EndReason.REPEATS


def test_a_picture_that_changed_is_new() -> None:
    shots = [Image(media_type="image/png", data=data) for data in ("AAAA", "BBBB", "CCCC")]
    turns = [several((LOOK, Observation(text="A picture.", images=(shot,)))) for shot in shots]

    assert RepeatLimit(react)(State("Q?", turns=turns)) == THINK


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


def several(*actions: tuple[ToolCall, Observation | None]) -> Turn:
    """Return a turn of these actions."""
    done = (Action(call=call, observation=seen) for call, seen in actions)
    thought = Thought(kind=ThoughtKind.ACTION, text="t")
    return Turn(index=0, thought=thought, actions=tuple(done))


ENDED = Observation(text="Which?", ends=EndReason.ASKED)


@pytest.mark.parametrize("decide", [react, react_in_text])
@pytest.mark.parametrize(
    ("turn", "decision"),
    [
        (several((ADD, None), (OTHER, None)), TOOL),
        (several((ADD, SEEN), (OTHER, None)), TOOL),
        (several((ADD, FAILED), (OTHER, None)), TOOL),
        (several((ADD, SEEN), (OTHER, SEEN)), THINK),
        (several((ADD, ENDED), (OTHER, None)), Decision(step=Step.HALT, reason=EndReason.ASKED)),
        (several((ADD, SEEN), (OTHER, ENDED)), Decision(step=Step.HALT, reason=EndReason.ASKED)),
    ],
)
def test_a_turn_is_acted_on_until_each_action_is_observed_or_one_ends_the_run(
    decide: Decide, turn: Turn, decision: Decision
) -> None:
    assert decide(State("Q?", turns=[turn])) == decision


BOTH = several((ADD, SEEN), (OTHER, SEEN))
TURNED = several((OTHER, SEEN), (ADD, SEEN))


@pytest.mark.parametrize(
    ("turns", "is_circle"),
    [
        ([BOTH] * 3, True),
        ([BOTH, TURNED, BOTH], False),
        ([several((ADD, SEEN), (ADD, SEEN), (ADD, SEEN))], False),
        ([BOTH, BOTH, several((ADD, SEEN))], False),
    ],
)
def test_turns_of_several_go_round_where_all_their_calls_are_the_same(
    turns: list[Turn], is_circle: bool
) -> None:
    decision = RepeatLimit(react)(State("Q?", turns=turns))

    assert (decision == Decision(step=Step.HALT, reason=EndReason.REPEATS)) is is_circle


@pytest.mark.parametrize(
    ("last", "is_row"),
    [
        (several((ADD, FAILED), (OTHER, FAILED)), True),
        (several((ADD, FAILED), (OTHER, SEEN)), False),
        (several((ADD, SEEN), (OTHER, FAILED)), False),
    ],
)
def test_a_turn_of_several_failed_where_nothing_else_came_of_it(last: Turn, is_row: bool) -> None:
    first = several((ADD, FAILED))

    decision = FailureLimit(react, times=2)(State("Q?", turns=[first, last]))

    assert (decision.step is Step.HALT) is is_row


@pytest.mark.parametrize(
    ("turns", "exempt", "is_reached"),
    [
        ([BOTH, several((OTHER, SEEN))], set[str](), True),
        ([BOTH, several((OTHER, SEEN), (LOOK, SEEN))], set[str](), False),
        ([several((LOOK, SEEN)), BOTH], set[str](), False),
        ([BOTH, several((OTHER, SEEN))], {"add"}, False),
        ([BOTH, several()], set[str](), False),
    ],
)
def test_the_same_tool_turn_after_turn_halts_unless_it_may(
    turns: list[Turn], exempt: set[str], is_reached: bool
) -> None:
    limit = SameToolLimit(react, frozenset(exempt), times=2)

    assert limit.is_reached(State("Q?", turns=turns)) is is_reached


def test_one_tool_may_be_used_many_times_in_a_row_where_each_brings_something_new() -> None:
    clicks = [ToolCall(tool="click", inputs={"element": f"#{n}"}) for n in range(5)]
    limit = SameToolLimit(react, frozenset())

    assert not limit.is_reached(looked(*((click, f"page {n}") for n, click in enumerate(clicks))))
    assert limit.is_reached(looked(*((one, f"clicked {one.inputs['element']}") for one in clicks)))
