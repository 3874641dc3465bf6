"""The loop: what it makes of components that fail, and of time that runs out."""

from collections.abc import Iterator

import pytest

from agents.contracts import EndReason, Observation, Status, Thought, ThoughtKind, ToolCall
from agents.control import Control
from agents.decide import react
from agents.errors import ConfigurationError, Interrupted, OutOfTime, ProviderBusy, Stopped
from agents.events import (
    ActionsProposed,
    AnswerDelta,
    Event,
    ObservationDelta,
    Observed,
    RunEnded,
    ThoughtCompleted,
    ThoughtDelta,
    TurnStarted,
)
from agents.loop import run
from agents.policy import Decision, Policy, Step
from agents.state import State


def never(_: State) -> Iterator[Event]:
    raise AssertionError("This is not called.")


def policy_that_thinks(*steps: Event | Exception) -> Policy:
    def think(_: State) -> Iterator[Event]:
        for step in steps:
            if isinstance(step, Exception):
                raise step
            yield step

    return Policy(name="test", think=think, act=never, decide=react, summarize=never)


def end_of(policy: Policy, state: State, control: Control | None = None) -> RunEnded:
    *_, last = run(policy, state, control or Control())
    assert isinstance(last, RunEnded)
    return last


@pytest.mark.parametrize(
    ("error", "status", "reason", "message"),
    [
        (Stopped(), Status.STOPPED, EndReason.STOPPED, "Stopped by you."),
        (OutOfTime(), Status.EXHAUSTED, EndReason.TIME, "The run's time is used up."),
        (ProviderBusy("Too busy."), Status.FAILED, EndReason.PROVIDER, "Too busy."),
        (ConfigurationError("No key."), Status.FAILED, EndReason.CONFIGURATION, "No key."),
    ],
)
def test_every_error_ends_the_run_with_its_reason(
    error: Exception, status: Status, reason: EndReason, message: str
) -> None:
    ended = end_of(policy_that_thinks(error), State("Q?"))

    assert (ended.outcome.status, ended.outcome.reason) == (status, reason)
    assert ended.outcome.message == message


def test_a_broken_component_tells_the_user_nothing_of_its_inside() -> None:
    ended = end_of(policy_that_thinks(RuntimeError("secret path")), State("Q?"))

    assert ended.outcome.reason is EndReason.INTERNAL
    assert "secret" not in ended.outcome.message


def test_a_thought_that_is_cut_off_is_kept() -> None:
    state = State("Q?")

    end_of(policy_that_thinks(ThoughtDelta(text="half "), ThoughtDelta(text="a"), Stopped()), state)

    assert state.turns[0].thought == Thought(kind=ThoughtKind.THOUGHT, text="half a")


def test_an_answer_that_is_cut_off_is_kept_as_partial() -> None:
    ended = end_of(policy_that_thinks(AnswerDelta(text="half"), Stopped()), State("Q?"))

    assert (ended.outcome.answer, ended.outcome.partial) == ("half", True)


def test_an_action_that_is_cut_off_keeps_its_output_and_is_closed() -> None:
    call = ToolCall(tool="x", inputs={})

    def act(_: State) -> Iterator[Event]:
        yield ActionsProposed(calls=(call,))
        yield ObservationDelta(text="half ")
        raise Stopped

    node = Thought(kind=ThoughtKind.ACTION, text="t", calls=(call,))
    thinks = policy_that_thinks(ThoughtCompleted(node=node))
    state = State("Q?")

    end_of(Policy(thinks.think, act, react, never, name="test"), state)

    (observation,) = state.turns[0].observations
    assert (observation.text, observation.error) == ("half ", "Interrupted")


def test_a_stop_before_the_first_call_is_heeded() -> None:
    control = Control()
    control.stop()
    policy = Policy(name="test", think=never, act=never, decide=react, summarize=never)

    ended = end_of(policy, State("Q?"), control)

    assert ended.outcome.status is Status.STOPPED


def test_a_run_without_time_makes_no_call() -> None:
    policy = Policy(name="test", think=never, act=never, decide=react, summarize=never)

    ended = end_of(policy, State("Q?"), Control(seconds=0))

    assert ended.outcome.reason is EndReason.TIME


def test_the_state_holds_each_event_before_it_is_told() -> None:
    node = Thought(kind=ThoughtKind.THOUGHT, text="t")
    state = State("Q?")
    events = run(policy_that_thinks(ThoughtCompleted(node=node)), state, Control())

    assert next(events) == TurnStarted(index=0)
    assert len(state.turns) == 1
    assert next(events) == ThoughtCompleted(node=node)
    assert state.turns[0].thought == node


def test_the_reason_of_a_halt_reaches_the_summary() -> None:
    def halts(_: State) -> Decision:
        return Decision(step=Step.HALT, reason=EndReason.REPEATS)

    seen: list[EndReason | None] = []

    def summarize(state: State) -> Iterator[Event]:
        seen.append(state.halted)
        yield AnswerDelta(text="x")

    list(run(Policy(never, never, halts, summarize, name="test"), State("Q?"), Control()))

    assert seen == [EndReason.REPEATS]


def test_a_worker_that_is_leaving_ends_its_step_and_begins_no_other() -> None:
    control = Control()

    def think(_: State) -> Iterator[Event]:
        control.leave()
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text="t", calls=(call,)))

    def act(_: State) -> Iterator[Event]:
        yield ActionsProposed(calls=(call,))
        yield Observed(observation=Observation(text="seen"))

    call = ToolCall(tool="x", inputs={})
    state = State("Q?")
    policy = Policy(think, act, react, never, name="test")

    with pytest.raises(Interrupted):
        list(run(policy, state, control))

    assert [turn.observations for turn in state.turns] == [[Observation(text="seen")]]
    assert not state.is_open
