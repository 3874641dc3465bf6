"""The one loop that runs every policy.

ReAct (Yao et al. 2022, arXiv 2210.03629): think, act, observe, until the policy says halt. Only
this module changes the State, and no exception of a component leaves it.
"""

import logging
from collections.abc import Iterator

from agents.contracts import Outcome, Reason, Status, Step
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Interrupted, OutOfTime, Stopped
from agents.events import Event, RunEnded, TurnCompleted, TurnStarted
from agents.policy import Policy
from agents.state import State

logger = logging.getLogger(__name__)


def run(policy: Policy, state: State, control: Control) -> Iterator[Event]:
    """Drive `policy` from `state` to its end, yielding each event after it is in the state.

    A state with turns goes on from its last complete step. The last event is always `RunEnded`;
    only `Interrupted` is raised, for then the run has not ended.
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
        ended = RunEnded(outcome=_outcome(error, state))
        state.apply(ended)
        yield ended


def _steps(policy: Policy, state: State, control: Control) -> Iterator[Event]:
    while (decision := policy.decide(state)).step is not Step.HALT:
        control.check()
        if decision.step is Step.REASON:
            yield TurnStarted(index=len(state.turns))
            yield from policy.think(state)
        else:
            yield from policy.act(state)
        if policy.decide(state).step is not Step.TOOL:
            yield TurnCompleted(turn=state.turns[-1])
    state.halted = decision.reason
    yield from policy.summarize(state)


def _outcome(error: Exception, state: State) -> Outcome:
    match error:
        case Stopped():
            status, reason, message = Status.STOPPED, Reason.STOPPED, "Stopped by you."
        case OutOfTime():
            status, reason, message = Status.EXHAUSTED, Reason.TIME, "The run's time is used up."
        case ConfigurationError():
            status, reason, message = Status.FAILED, Reason.CONFIGURATION, str(error)
        case AgentError():
            status, reason, message = Status.FAILED, Reason.PROVIDER, str(error)
        case _:
            status, reason = Status.FAILED, Reason.INTERNAL
            message = "Something broke inside Turnstone. The turns so far are kept; try again."
    return Outcome(status=status, reason=reason, answer=state.final_answer, message=message)
