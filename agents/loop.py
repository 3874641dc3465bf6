"""The one loop that runs every policy.

ReAct (Yao et al. 2022, arXiv 2210.03629): think, act, observe, until the policy says halt. Only
this module changes the State, and no exception of a component leaves it.
"""

import logging
from collections.abc import Iterator

from agents.again import Again
from agents.contracts import (
    STOPPED_BY_ASKER,
    EndReason,
    Observation,
    Outcome,
    Status,
    Thought,
    ThoughtKind,
)
from agents.control import Control
from agents.errors import (
    AgentError,
    ConfigurationError,
    ContextOverflow,
    ErrorKind,
    Interrupted,
    OutOfBudget,
    OutOfTime,
    Stopped,
)
from agents.events import (
    Event,
    Observed,
    RunEnded,
    ThoughtCompleted,
    TurnCompleted,
    TurnStarted,
)
from agents.policy import Policy, Step
from agents.state import State

logger = logging.getLogger(__name__)


def run(policy: Policy, state: State, control: Control) -> Iterator[Event]:
    """Drive `policy` from `state` to its end, yielding each event after it is in the state.

    A state with turns goes on from its last complete step. Every turn is completed exactly once,
    but for one that a halt cuts off; the last event is always `RunEnded`. Only `Interrupted` is
    raised, for then the run has not ended.
    """
    try:
        for event in _steps(policy, state, control):
            state.apply(event)
            yield event
    except Interrupted:
        raise
    except Exception as error:
        if not isinstance(error, AgentError):
            logger.exception("A component of policy %r failed", policy.name)
        for event in _closing(error, state):
            state.apply(event)
            yield event


def _steps(policy: Policy, state: State, control: Control) -> Iterator[Event]:
    try:
        yield from _resumed(policy, state)
        again = Again(control)
        while (decision := policy.decide(state)).step is not Step.HALT:
            control.check()
            if decision.step is Step.THINK:
                control.safe_point()
                yield TurnStarted(index=len(state.turns))
            step = policy.think if decision.step is Step.THINK else policy.act
            if not (yield from again.asked(step(state), state)):
                _forget_unthought(state)
            elif policy.decide(state).step is not Step.TOOL:
                yield TurnCompleted(turn=state.turns[-1])
        state.halted = decision.reason
    except OutOfBudget as error:
        yield from _cut_off(error, state)
        state.halted = EndReason.BUDGET
    except ContextOverflow as error:
        yield from _cut_off(error, state)
        state.halted = EndReason.PROVIDER
    yield from policy.summarize(state)


def _cut_off(error: OutOfBudget | ContextOverflow, state: State) -> Iterator[Event]:
    """Complete the turn in which a call could not be paid for, or was too long for the model."""
    if not state.is_open:
        return
    yield from _said(state)
    while not state.turns[-1].is_observed and not state.final_answer:
        shown = state.draft.output(state.turns[-1].position) or str(error)
        yield Observed(observation=Observation(text=shown, error=error.kind))
    yield TurnCompleted(turn=state.turns[-1])


def _resumed(policy: Policy, state: State) -> Iterator[Event]:
    """Settle the turn that was open when an earlier worker let go of the run."""
    _forget_unthought(state)
    if state.is_open and policy.decide(state).step is not Step.TOOL:
        yield TurnCompleted(turn=state.turns[-1])


def _forget_unthought(state: State) -> None:
    """Take back the open turn if it holds no thought yet: it is begun anew."""
    if state.is_open and state.turns[-1].thought is None:
        state.turns.pop()
        state.is_open = False


def _closing(error: Exception, state: State) -> Iterator[Event]:
    """Keep all that was said in the turn that is cut off, and end the run."""
    if state.is_open:
        yield from _said(state)
        for position in _under_way(state):
            shown = state.draft.output(position)
            cut_off = Observation(text=shown, error=ErrorKind.INTERRUPTED)
            yield Observed(observation=cut_off, position=position)
    yield RunEnded(outcome=outcome_of(error, state))


def _under_way(state: State) -> list[int]:
    """Return the places of the actions that were begun, else of the one that comes next."""
    position = state.turns[-1].position
    return sorted(state.draft.outputs) or ([] if position is None else [position])


def _said(state: State) -> Iterator[Event]:
    """Keep what was said of a thought that is cut off."""
    if state.turns[-1].thought is None:
        said = "".join(state.draft.thought)
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.THOUGHT, text=said))


def outcome_of(error: Exception, state: State) -> Outcome:
    """Return the end of a run that an error ended, in words for who asked."""
    match error:
        case Stopped():
            status, reason, message = Status.STOPPED, EndReason.STOPPED, STOPPED_BY_ASKER
        case OutOfTime():
            status, reason, message = Status.EXHAUSTED, EndReason.TIME, "The run's time is used up."
        case ConfigurationError():
            status, reason, message = Status.FAILED, EndReason.CONFIGURATION, str(error)
        case AgentError():
            status, reason, message = Status.FAILED, EndReason.PROVIDER, str(error)
        case _:
            status, reason = Status.FAILED, EndReason.INTERNAL
            message = "Something went wrong on our side. Try again."
    answer = state.final_answer or "".join(state.draft.answer)
    return Outcome(
        status=status, reason=reason, answer=answer, partial=bool(answer), message=message
    )
