"""What comes next, by rules over the state alone; limits wrap the rule they limit."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from agents.contracts import EndReason, ThoughtKind
from agents.errors import ErrorKind
from agents.history.form import is_out_of_form
from agents.history.fruitless import fruitless_calls
from agents.history.novelty import is_one_view, is_same_step, stale_row
from agents.model.budget import Purse
from agents.planning import may_adapt
from agents.policy import Decide, Decision, Step
from agents.state import State

_REASON = Decision(step=Step.THINK)
_TOOL = Decision(step=Step.TOOL)


def react(state: State) -> Decision:
    """Halt after an answer, act while an action has no observation yet, else reason."""
    last = state.turns[-1] if state.turns else None
    if last is not None and (end := last.end) is not None:
        return Decision(step=Step.HALT, reason=end.ends)
    if last is None or last.thought is None:
        return _REASON
    if last.thought.kind is ThoughtKind.FINAL:
        return Decision(step=Step.HALT, reason=EndReason.ANSWERED)
    if last.thought.kind is ThoughtKind.ACTION and not last.is_observed:
        return _TOOL
    return _REASON


def react_in_text(state: State) -> Decision:
    """Follow `react`, but have act answer a reply that could not be read, too.

    Where the model must write an action or an answer, a bare thought is a reply that broke the
    format; as an observation the reminder is stored and replayed like any other.
    """
    last = state.turns[-1] if state.turns else None
    is_undone = last is not None and not last.is_observed and last.end is None
    if is_undone and last is not None and last.thought is not None:
        return react(state) if last.thought.kind is ThoughtKind.FINAL else _TOOL
    return react(state)


@dataclass(frozen=True)
class Limit(ABC):
    """Halt for `reason` instead of reasoning on; a begun turn is finished."""

    reason: ClassVar[EndReason]
    decide: Decide

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or a halt where the limit is reached."""
        decision = self.decide(state)
        if decision.step is Step.THINK and self.is_reached(state):
            return Decision(step=Step.HALT, reason=self.reason)
        return decision

    @abstractmethod
    def is_reached(self, state: State) -> bool:
        """Tell whether the run must not reason on."""


@dataclass(frozen=True)
class TurnLimit(Limit):
    """Halt where another turn would be one too many."""

    reason = EndReason.TURNS
    max_turns: int

    def is_reached(self, state: State) -> bool:
        """Count the turns."""
        return len(state.turns) >= self.max_turns


@dataclass(frozen=True)
class RepeatLimit(Limit):
    """Halt after the same step so many times in a row, or after so many that brought nothing new.

    The same step is the same calls with the same coming back. Nothing new is a step that was taken
    before in the run, so that going in a circle of several steps is noticed as well.
    """

    reason = EndReason.REPEATS
    times: int = 3

    def is_reached(self, state: State) -> bool:
        """Compare what the last turns called, and what came back, with the turns before."""
        turns = state.turns
        row = [turn for turn in turns[-self.times :] if turn.calls]
        if len(row) == self.times and all(is_same_step(turn, row[0]) for turn in row[1:]):
            return True
        return stale_row(turns, self.times) == self.times


@dataclass(frozen=True)
class FailureLimit(Limit):
    """Halt after so many turns in a row of which nothing came but errors."""

    reason = EndReason.FAILURES
    times: int = 3

    def is_reached(self, state: State) -> bool:
        """Look at what came back in the last turns."""
        last = state.turns[-self.times :]
        return len(last) == self.times and all(turn.has_failed for turn in last)


@dataclass(frozen=True)
class FormLimit(Limit):
    """Halt after replies in a row that were no steps, though the model was told so each time."""

    reason = EndReason.FAILURES

    def is_reached(self, state: State) -> bool:
        """Look at what came back in the last turns."""
        return is_out_of_form(state)


@dataclass(frozen=True)
class FruitlessLimit(Limit):
    """Halt where so many model calls in a row came to no step that was carried out."""

    reason = EndReason.FAILURES
    most: int

    def is_reached(self, state: State) -> bool:
        """Count the calls since the last such step."""
        return fruitless_calls(state.turns, self.most) >= self.most


@dataclass(frozen=True)
class SameToolLimit(Limit):
    """Halt after so many turns of the same tool that all came back with the same.

    Its inputs may be other ones each time, as where a page does not change whatever is clicked;
    the tools of `exempt` may go on.
    """

    reason = EndReason.REPEATS
    exempt: frozenset[str]
    times: int = 5

    def is_reached(self, state: State) -> bool:
        """Compare the tools of the last turns, and what came back."""
        last = [{call.tool for call in turn.calls} for turn in state.turns[-self.times :]]
        tools = set[str]().union(*last)
        is_one = len(last) == self.times and all(last) and len(tools) == 1
        if not is_one or tools & self.exempt:
            return False
        return is_one_view(act for turn in state.turns[-self.times :] for act in turn.actions)


@dataclass(frozen=True)
class NoUnreadable(Limit):
    """Halt after replies that could not be read, so many in a row.

    The first is enough where think has already tried to repair it.
    """

    reason = EndReason.FAILURES
    times: int = 1

    def is_reached(self, state: State) -> bool:
        """Look for replies that could not be read at the end."""
        seen = [turn.last_observation for turn in state.turns[-self.times :]]
        errors = [observation is not None and observation.error for observation in seen]
        return len(errors) == self.times and set(errors) == {ErrorKind.PARSE_ERROR}


@dataclass(frozen=True)
class AdaptsPlan:
    """Think on where a limit of failures or repeats halts a run whose plan may be adapted still.

    What is thought then is another way to the goal, which the limits see as a new beginning.
    """

    decide: Decide
    adaptations: int

    def __call__(self, state: State) -> Decision:
        """Return the wrapped decision, or to think where another way may be planned."""
        decision = self.decide(state)
        is_stuck = decision.reason in (EndReason.FAILURES, EndReason.REPEATS)
        return _REASON if is_stuck and may_adapt(state.turns, self.adaptations) else decision


@dataclass(frozen=True)
class BudgetLimit(Limit):
    """Halt where the run has spent what it may."""

    reason = EndReason.BUDGET
    budget: Purse

    def is_reached(self, state: State) -> bool:
        """Ask the budget, which has counted every call."""
        return self.budget.is_used_up
