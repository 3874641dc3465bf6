"""Reflexion: a try that fails ends in a lesson, and the next try begins with it.

Shinn et al. 2023, arXiv 2303.11366, around the explicit ReAct of each try.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from agents.act.named_tool import NamedToolAct
from agents.contracts import EndReason, Value
from agents.decide import FailureLimit, RepeatLimit, TurnLimit, react_in_text
from agents.events import Event, RunEnded
from agents.history.tries import last_try, lessons
from agents.policies.context import Parts
from agents.policies.declared import policy
from agents.policy import Decide, Decision, Policy, Step, Summarize
from agents.state import State
from agents.summarize import FinalAnswer
from agents.think.lesson import LessonThink
from agents.think.text import TextThink

_FAILED = frozenset({EndReason.TURNS, EndReason.REPEATS, EndReason.FAILURES})


class Settings(Value):
    """How many tries a run has, and what ends one: its turns, or failures in a row.

    The limit of the run's turns counts the turns of all tries, and the lessons.
    """

    tries: int = Field(default=3, ge=1, le=20, description="Tries at most.")
    turns_per_try: int = Field(default=6, ge=1, description="Turns of one try at most.")
    failures_per_try: int = Field(
        default=3, ge=1, description="Failed turns in a row that end a try."
    )


@policy("reflexion", Settings)
def reflexion(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model, turns = parts.model, parts.limits.max_turns
    bounded = FailureLimit(RepeatLimit(react_in_text), settings.failures_per_try)
    one_try = TurnLimit(bounded, settings.turns_per_try)
    return Policy(
        think=LessonThink(TextThink(model, parts.toolkit), model, one_try),
        act=NamedToolAct(parts.toolkit, model.control),
        decide=_NextTry(one_try, settings.tries, turns),
        summarize=_AfterTries(FinalAnswer(model, turns)),
    )


@dataclass(frozen=True)
class _NextTry:
    """Reason about a try that failed, while tries are left and turns for a lesson and a step."""

    one_try: Decide
    tries: int
    max_turns: int

    def __call__(self, state: State) -> Decision:
        decision = self.one_try(last_try(state))
        has_failed = decision.step is Step.HALT and decision.reason in _FAILED
        is_last = len(lessons(state.turns)) + 1 >= self.tries
        if has_failed and not is_last and len(state.turns) + 2 <= self.max_turns:
            return Decision(step=Step.THINK)
        return decision


@dataclass(frozen=True)
class _AfterTries:
    """Say of a run without an answer how many tries there were."""

    summarize: Summarize

    def __call__(self, state: State) -> Iterator[Event]:
        tries = len(lessons(state.turns)) + 1
        count = f"{tries} tries" if tries > 1 else "1 try"
        said = f"No answer after {count}, with {len(state.turns)} turns in all."
        for event in self.summarize(state):
            if isinstance(event, RunEnded) and event.outcome.reason in _FAILED:
                more = event.outcome.message.partition(". ")[2]
                message = f"{said} {more}".strip()
                event = RunEnded(outcome=event.outcome.model_copy(update={"message": message}))
            yield event
