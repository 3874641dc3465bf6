"""What comes next, by rules over the state alone; limits wrap the rule they limit."""

from dataclasses import dataclass

from agents.contracts import Decision, Reason, ReasonKind, Step
from agents.errors import ParseError
from agents.policy import Decide
from agents.state import State

_REASON = Decision(step=Step.REASON)
_TOOL = Decision(step=Step.TOOL)


def react(state: State) -> Decision:
    """Halt after an answer, act on an action that has no observation yet, else reason."""
    last = state.turns[-1] if state.turns else None
    if last is not None and last.observation is not None and last.observation.ends is not None:
        return Decision(step=Step.HALT, reason=last.observation.ends)
    if last is None or last.thought is None:
        return _REASON
    if last.thought.kind is ReasonKind.FINAL:
        return Decision(step=Step.HALT, reason=Reason.ANSWERED)
    if last.thought.kind is ReasonKind.ACTION and last.observation is None:
        return _TOOL
    return _REASON


def react_in_text(state: State) -> Decision:
    """Follow `react`, but have act answer a reply that could not be read, too.

    Where the model must write an action or an answer, a bare thought is a reply that broke the
    format; as an observation the reminder is stored and replayed like any other.
    """
    last = state.turns[-1] if state.turns else None
    if last is not None and last.thought is not None and last.observation is None:
        return react(state) if last.thought.kind is ReasonKind.FINAL else _TOOL
    return react(state)


@dataclass(frozen=True)
class TurnLimit:
    """Halt where another turn would be one too many; a begun turn is finished."""

    decide: Decide
    max_turns: int

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt for want of turns."""
        decision = self.decide(state)
        if decision.step is Step.REASON and len(state.turns) >= self.max_turns:
            return Decision(step=Step.HALT, reason=Reason.TURNS)
        return decision


@dataclass(frozen=True)
class RepeatLimit:
    """Halt after the same action with the same inputs, so many times in a row."""

    decide: Decide
    times: int = 3

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt because the run goes in a circle."""
        decision = self.decide(state)
        if decision.step is Step.REASON and self._goes_in_a_circle(state):
            return Decision(step=Step.HALT, reason=Reason.REPEATS)
        return decision

    def _goes_in_a_circle(self, state: State) -> bool:
        actions = [turn.action for turn in state.turns[-self.times :]]
        return (
            len(actions) == self.times
            and actions[0] is not None
            and all(action == actions[0] for action in actions)
        )


@dataclass(frozen=True)
class FailureLimit:
    """Halt after so many turns in a row that each ended in an error."""

    decide: Decide
    times: int = 3

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt because nothing works."""
        decision = self.decide(state)
        if decision.step is Step.REASON and self._only_fails(state):
            return Decision(step=Step.HALT, reason=Reason.FAILURES)
        return decision

    def _only_fails(self, state: State) -> bool:
        last = [turn.observation for turn in state.turns[-self.times :]]
        return len(last) == self.times and all(
            observation is not None and observation.error is not None for observation in last
        )


@dataclass(frozen=True)
class SameToolLimit:
    """Halt after the same tool so many times in a row, whatever its inputs; `exempt` may go on."""

    decide: Decide
    exempt: frozenset[str]
    times: int = 5

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt because the run goes in a circle."""
        decision = self.decide(state)
        if decision.step is Step.REASON and self._goes_in_a_circle(state):
            return Decision(step=Step.HALT, reason=Reason.REPEATS)
        return decision

    def _goes_in_a_circle(self, state: State) -> bool:
        last = [turn.action.tool for turn in state.turns[-self.times :] if turn.action is not None]
        return len(last) == self.times and len(set(last)) == 1 and last[0] not in self.exempt


@dataclass(frozen=True)
class NoUnreadable:
    """Halt after a reply that could not be read, where think has already tried to repair it."""

    decide: Decide

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt because the model does not keep to the format."""
        decision = self.decide(state)
        last = state.turns[-1].observation if state.turns else None
        is_unreadable = last is not None and last.error == ParseError.__name__
        if decision.step is Step.REASON and is_unreadable:
            return Decision(step=Step.HALT, reason=Reason.FAILURES)
        return decision
