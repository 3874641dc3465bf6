"""The end of a run: its answer, or the best that can honestly be said without one."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Outcome, Reason, Status
from agents.errors import ProviderError
from agents.events import AnswerDelta, Event, ModelCalled, RunEnded
from agents.policy import Summarize as SummarizeShape
from agents.reasoning.model import Model
from agents.reasoning.prompts import conversation, goal_and_transcript, render
from agents.state import State
from agents.tools.output import storable

INSUFFICIENT = "ERROR: insufficient data for a reliable answer."


@dataclass(frozen=True)
class Summarize:
    """Give the answer there is; out of turns, ask once, without tools, for the best partial one."""

    model: Model
    max_turns: int

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the answer's deltas if it is only made now, and the end of the run."""
        if state.final_answer:
            reason = Reason.ASKED if state.halted is Reason.ASKED else Reason.ANSWERED
            yield RunEnded(
                outcome=Outcome(status=Status.SUCCEEDED, reason=reason, answer=state.final_answer)
            )
        else:
            yield from self._partial(state)

    def _partial(self, state: State) -> Iterator[Event]:
        reason = state.halted or Reason.TURNS
        answer: list[str] = []
        message = self._message(reason, state)
        try:
            for event in self._ask(state):
                if isinstance(event, AnswerDelta):
                    answer.append(event.text)
                yield event
        except ProviderError as error:
            message = f"{message} The model could not sum up what it found: {error}"
        if not "".join(answer).strip():
            answer = [INSUFFICIENT]
            yield AnswerDelta(text=INSUFFICIENT)
        yield RunEnded(
            outcome=Outcome(
                status=Status.EXHAUSTED,
                reason=reason,
                answer="".join(answer),
                partial=True,
                message=message,
            )
        )

    def _ask(self, state: State) -> Iterator[AnswerDelta | ModelCalled]:
        messages = conversation(render("summarize"), state, goal_and_transcript(state))
        for item in self.model.stream(messages, purpose="summarize"):
            if isinstance(item, ModelCalled):
                yield item
            elif item.kind == "answer":
                yield AnswerDelta(text=storable(item.text))

    def _message(self, reason: Reason, state: State) -> str:
        if reason is Reason.REPEATS:
            return "Stopped because the same action was repeated without anything new."
        if reason is Reason.FAILURES:
            return "Stopped because one step after the other failed."
        return f"Ran out of turns ({len(state.turns)} of {self.max_turns})."


@dataclass(frozen=True)
class MarkPartial:
    """Mark the answer as partial, where the calls it rests on did not all go well.

    For policies that make their calls in one go: what failed there was never tried another way.
    """

    summarize: SummarizeShape

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the end with what failed."""
        for event in self.summarize(state):
            if isinstance(event, RunEnded) and event.outcome.reason is Reason.ANSWERED:
                event = RunEnded(outcome=_as_partial(event.outcome, state))
            yield event


def _as_partial(outcome: Outcome, state: State) -> Outcome:
    calls = [turn for turn in state.turns if turn.action is not None]
    failed = [t for t in calls if t.observation is not None and t.observation.error is not None]
    plans = [t.thought.plan for t in state.turns if t.thought is not None and t.thought.plan]
    if failed:
        message = f"Tool execution errors occurred. {len(failed)} of {len(calls)} calls failed."
    elif plans and plans[-1].get("unread"):
        message = "The planned tool calls could not be read, so no tool was used."
    else:
        return outcome
    return outcome.model_copy(update={"partial": True, "message": message})
