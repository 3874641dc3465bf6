"""The end of a run: its answer, or the best that can honestly be said without one."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import chain, takewhile

from agents.contracts import EndReason, Outcome, Purpose, Status
from agents.errors import ContextOverflow, ErrorKind, ProviderError
from agents.events import AnswerDelta, Event, RunEnded
from agents.history.form import is_out_of_form
from agents.history.fruitless import is_unfilled
from agents.history.novelty import is_stale
from agents.model.model import Model
from agents.model.tokens import tokens
from agents.planning import GoalStatus, goal_plan_of
from agents.policy import Summarize
from agents.prompting.compaction import Compaction, Room, history_cost
from agents.prompting.prompts import conversation, goal_and_transcript, render
from agents.reading.markup.answer_reply import AnswerReader
from agents.reading.markup.second_look import holds_call
from agents.state import State
from agents.text import is_cut_short

INSUFFICIENT = "ERROR: insufficient data for a reliable answer."
CUT_OFF = "The model stopped before its answer was complete."
CALL_LEFT_OUT = "The model asked for a tool in its answer. That call was not carried out."
_TOO_LONG = (
    "Stopped because what the model has to be told is longer than it takes, shortened as well."
)
_FAILED = "Stopped because one step after the other failed."
_OUT_OF_FORM = (
    "Stopped because the model did not keep to the form that this policy asks for, three times in "
    "a row. Another model may, or a policy of another form: explicit asks for labelled lines, "
    "self_repair and planned for JSON."
)
_UNFILLED = (
    "Stopped because the model did not keep to the form that this policy asks for: it named steps "
    "for which it then named no tool, or no inputs that fit one. Another model may, or a policy of "
    "another form: native, where the model can call tools, or explicit, which asks for lines."
)
_ONLY_THOUGHT = (
    "Stopped because the model went on thinking and named neither a step nor an answer. Another "
    "model may, or a policy of another form, such as explicit."
)
_NO_SUMMARY = " The model could not sum up what it found: "


@dataclass(frozen=True)
class FinalAnswer:
    """Give the answer there is; out of turns, ask once, without tools, for the best partial one."""

    model: Model
    max_turns: int

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the answer's deltas if it is only made now, and the end of the run."""
        if state.final_answer:
            reason = EndReason.ASKED if state.halted is EndReason.ASKED else EndReason.ANSWERED
            yield RunEnded(outcome=_answered(state, reason))
        else:
            yield from self._partial(state)

    def _partial(self, state: State) -> Iterator[Event]:
        reason = state.halted or EndReason.TURNS
        message = self._message(reason, state)
        said: list[str] = []
        try:
            yield from self._asked(state, said)
        except ProviderError as error:
            message = f"{message}{_NO_SUMMARY}{error}"
        answer = said[-1] if said else ""
        if not answer:
            answer = INSUFFICIENT
            yield AnswerDelta(text=answer)
        yield RunEnded(
            outcome=Outcome(
                status=Status.EXHAUSTED, reason=reason, answer=answer, partial=True, message=message
            )
        )

    def _read(self, state: State, said: list[str]) -> Generator[Event, None, None]:
        reader = AnswerReader(
            lambda text: AnswerDelta(text=text),
            thinks_first=self.model.asked(Purpose.SUMMARIZE).provider.thinks_first,
        )
        messages = conversation(render("summarize"), state, goal_and_transcript(state))
        try:
            yield from self.model.read(reader, messages, purpose=Purpose.SUMMARIZE)
        finally:
            said.append(reader.said.text)

    def _asked(self, state: State, said: list[str]) -> Generator[Event, None, None]:
        """Ask; where that is more than the model takes, once more with half of it."""
        try:
            yield from self._read(state, said)
        except ContextOverflow:
            if any(said):
                raise
            room = Room(history_cost(state.history) // 2, tokens(state.transcript()) // 2)
            yield from self._read(Compaction()(state, room), said)

    def _message(self, reason: EndReason, state: State) -> str:
        if reason is EndReason.REPEATS:
            return "Stopped because the same action was repeated without anything new."
        if reason is EndReason.BUDGET:
            return self.model.budget.used
        if reason is EndReason.PROVIDER:
            return _TOO_LONG
        if reason is EndReason.FAILURES:
            return _why_failed(state)
        return f"Ran out of turns ({len(state.turns)} of {self.max_turns})."


def _why_failed(state: State) -> str:
    if is_out_of_form(state):
        return _OUT_OF_FORM
    since = takewhile(lambda turn: not turn.calls, reversed(state.turns))
    fruitless = list(since)
    if any(map(is_unfilled, fruitless)):
        return _UNFILLED
    return _ONLY_THOUGHT if fruitless and not fruitless[0].actions else _FAILED


def _answered(state: State, reason: EndReason) -> Outcome:
    """Return the end with an answer; one that was cut, or that left out a call, is no success."""
    answer = state.final_answer
    has_call = _has_dropped(state) or holds_call(answer)
    message = CUT_OFF if is_cut_short(answer) else CALL_LEFT_OUT if has_call else ""
    if not message:
        return Outcome(status=Status.SUCCEEDED, reason=reason, answer=answer)
    return Outcome(
        status=Status.EXHAUSTED, reason=reason, answer=answer, partial=True, message=message
    )


@dataclass(frozen=True)
class PartialSummary:
    """Mark the answer as partial, where the calls it rests on did not all go well.

    For policies that make their calls in one go: what failed there was never tried another way.
    """

    summarize: Summarize

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the end with what failed."""
        for event in self.summarize(state):
            if isinstance(event, RunEnded) and event.outcome.reason is EndReason.ANSWERED:
                event = RunEnded(outcome=_as_partial(event.outcome, state))
            yield event


@dataclass(frozen=True)
class ExplainedSummary:
    """End a run that gave up as failed, and say of one that was halted what halted it.

    What its goals have reached by then is kept as a partial answer. The wrapped summary sees a run
    that fits into `most` tokens.
    """

    summarize: Summarize
    most: int = 20_000

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the end with its own reason; nothing is asked after a fail."""
        if state.halted is EndReason.GAVE_UP:
            yield from _given_up(state)
            return
        for event in self.summarize(self._short(state)):
            if isinstance(event, RunEnded) and (message := _what_halted(state)):
                event = RunEnded(outcome=_explained(event.outcome, message))
            yield event

    def _short(self, state: State) -> State:
        room = Room(self.most // 4, self.most - self.most // 4)
        compaction = Compaction()
        return state if compaction.fits(state, room) else compaction(state, room)


def _has_dropped(state: State) -> bool:
    """Tell whether the answer held a call of a tool, which was left out of it."""
    thought = state.turns[-1].thought if state.turns else None
    return thought is not None and bool((thought.plan or {}).get("dropped_call"))


def _given_up(state: State) -> Iterator[Event]:
    plan = goal_plan_of(state.turns)
    reached = [] if plan is None else [g for g in plan.goals if g.status is GoalStatus.REACHED]
    answer = "\n\n".join(f"**{goal.description}**\n\n{goal.outcome}" for goal in reached)
    if answer:
        yield AnswerDelta(text=answer)
    yield RunEnded(
        outcome=Outcome(
            status=Status.FAILED,
            reason=EndReason.GAVE_UP,
            answer=answer,
            partial=bool(answer),
            message=state.final_answer,
        )
    )


def _what_halted(state: State) -> str:
    """Return what halted the run where its reason alone does not say so; empty if it does."""
    last = state.turns[-1] if state.turns else None
    seen = None if last is None else last.last_observation
    if state.halted is EndReason.FAILURES and seen is not None:
        if seen.error == ErrorKind.PARSE_ERROR:
            return "The model's reply could not be read, even after it was asked to repair it."
        return "Too many consecutive failures: one step after the other failed."
    calls = [turn.calls for turn in state.turns]
    if state.halted is not EndReason.REPEATS or not calls or not calls[-1]:
        return ""
    if is_stale(state.turns, len(state.turns) - 1):
        return ""
    tool = calls[-1][0].tool
    tools = list(chain.from_iterable([call.tool for call in each] or [""] for each in calls))
    times = takewhile(lambda name: name == tool, reversed(tools))
    return f"Tool '{tool}' called {len(list(times))} times in a row."


def _explained(outcome: Outcome, message: str) -> Outcome:
    """Return the outcome with what halted the run; a failed summary stays told after it."""
    _, mark, failure = outcome.message.partition(_NO_SUMMARY)
    return outcome.model_copy(update={"message": f"{message}{mark}{failure}"})


def _as_partial(outcome: Outcome, state: State) -> Outcome:
    actions = (action for turn in state.turns for action in turn.actions)
    calls = [action for action in actions if action.call is not None]
    failed = [action for action in calls if action.has_failed]
    plans = [t.thought.plan for t in state.turns if t.thought is not None and t.thought.plan]
    if failed:
        message = f"Tool execution errors occurred. {len(failed)} of {len(calls)} calls failed."
    elif plans and plans[-1].get("unread"):
        message = "The planned tool calls could not be read, so no tool was used."
        outcome = outcome.model_copy(update={"status": Status.EXHAUSTED})
    else:
        return outcome
    return outcome.model_copy(update={"partial": True, "message": message})
