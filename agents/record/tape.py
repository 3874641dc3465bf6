"""What is recorded of a run, played back to its policy and held against what it does now."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NoReturn

from agents.contracts import (
    EndReason,
    Exchange,
    ModelCall,
    Observation,
    Outcome,
    Purpose,
    Thought,
    Turn,
    Usage,
    Value,
)
from agents.errors import ConfigurationError, ErrorKind, OutOfTime, ProviderError, Stopped
from agents.events import Event, TurnCompleted, TurnStarted
from agents.history.native import NO_TOOLS
from agents.model.model import RESERVED
from agents.providers.base import NativeCall
from agents.record.native_calls import parted
from agents.state import State
from agents.text import storable

OUTSIDE = frozenset({EndReason.STOPPED, EndReason.TIME})
"""Ends that no policy decides: they may come at any moment."""

CHOOSING = frozenset({Purpose.CHOOSE_TOOL, Purpose.FILL_INPUTS})
WORKING = frozenset({Purpose.WORK})
SHOWN = 200

BEFORE_A_CALL = frozenset({EndReason.PROVIDER, EndReason.CONFIGURATION, EndReason.INTERNAL})
"""Ends that may come while a run is prepared or waits for its model: no call is stored then."""


class RecordedCall(Value):
    """One call to a model as it is stored: where it was made, and what came of it."""

    turn_index: int
    attempt: int
    purpose: str
    reply: str
    reasoning: str = ""
    stop_reason: str = ""
    error: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True)
class Recorded:
    """What is stored of a run.

    `outcome` is None while it has not ended. The last turn is `is_cut` if it was never completed.
    `person` and `conversation` are the instructions that it was given.
    """

    goal: str
    turns: Sequence[Turn]
    calls: Sequence[RecordedCall]
    outcome: Outcome | None
    history: Sequence[Exchange] = ()
    is_cut: bool = False
    person: str = ""
    conversation: str = ""


class Difference(Value):
    """The first thing that came out otherwise: of which turn (None: of the end), stored and now."""

    turn: int | None
    what: str
    stored: str
    replayed: str

    def __str__(self) -> str:
        where = "at the end" if self.turn is None else f"in turn {self.turn + 1}"
        return f"{self.what} {where}: stored {self.stored}, replayed {self.replayed}"


class RecordingEnds(BaseException):
    """Raised past the loop, which closes a run for every Exception: there is nothing more to hear.

    Without a difference the recording ends where the run did.
    """

    def __init__(self, difference: Difference | None = None) -> None:
        self.difference = difference


class Tape:
    """How far the replay has come in the recording."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._calls = _that_count(recorded.calls)
        self._index = 0

    def apply(self, event: Event) -> None:
        """Follow the loop from turn to turn."""
        match event:
            case TurnStarted(index=index):
                self._index = index
                if index >= len(self._recorded.turns) and not self._calls[index]:
                    self._end("a turn")
            case TurnCompleted(turn=turn):
                self._index = turn.index + 1

    @property
    def is_used_up(self) -> bool:
        """Tell whether the run had spent its budget by here: only the call in reserve is left."""
        outcome = self._recorded.outcome
        left = (call for waiting in self._calls.values() for call in waiting)
        is_spent = outcome is not None and outcome.reason is EndReason.BUDGET
        return is_spent and all(call.purpose == RESERVED for call in left)

    @property
    def used(self) -> str:
        """Return what the run said of its budget when it ended."""
        outcome = self._recorded.outcome
        said, end, _ = ("" if outcome is None else outcome.message).partition(").")
        return said + end

    def count(self, call: ModelCall) -> None:
        """Count nothing: what the run could pay for is known from how it ended."""

    def call(self, purpose: str) -> RecordedCall:
        """Return the reply to the next call."""
        waiting = self._calls[self._index]
        if not waiting:
            self._end(f"a call to {purpose}")
        call = waiting.pop(0)
        if call.purpose != purpose:
            self._differs("the purpose of a call", call.purpose, purpose)
        return call

    @property
    def refuses_tools(self) -> bool:
        """Tell whether the model's server took no tools in the turn under way."""
        thought = self._thought
        return thought is not None and thought.text == NO_TOOLS

    def parted(self, call: RecordedCall) -> tuple[str, list[NativeCall]]:
        """Return the text of a reply, and its native calls as its turn has kept them."""
        return parted(call.reply, self._thought)

    @property
    def _thought(self) -> Thought | None:
        is_stored = self._index < len(self._recorded.turns)
        return self._recorded.turns[self._index].thought if is_stored else None

    def observation(self, position: int) -> Observation | None:
        """Return what came back from that action of the turn under way; None where it was cut."""
        is_stored = self._index < len(self._recorded.turns)
        actions = self._recorded.turns[self._index].actions if is_stored else ()
        if position >= len(actions):
            self._end("an action")
        seen = actions[position].observation
        if seen is None and not self.is_cut_at(position):
            self._differs("what comes next", "nothing", "an observation")
        return seen

    @property
    def is_cut(self) -> bool:
        """Tell whether the turn under way was never completed."""
        return self._recorded.is_cut and self._index == len(self._recorded.turns) - 1

    def is_cut_at(self, position: int) -> bool:
        """Tell whether the run was cut off in that action: the last of which anything is stored."""
        actions = self._recorded.turns[self._index].actions if self.is_cut else ()
        observed = sum(action.observation is not None for action in actions)
        return self.is_cut and position + 1 >= observed

    def cause(self) -> Exception:
        """Return what cut the run off; a run that has not ended says nothing."""
        outcome = self._recorded.outcome
        match None if outcome is None else outcome.reason:
            case EndReason.STOPPED:
                return Stopped()
            case EndReason.TIME:
                return OutOfTime()
        raise RecordingEnds

    def failure(self, call: RecordedCall) -> Exception:
        """Return the error that ended a call."""
        if call.error in (ErrorKind.STOPPED, ErrorKind.OUT_OF_TIME):
            return Stopped() if call.error == ErrorKind.STOPPED else OutOfTime()
        outcome = self._recorded.outcome
        is_setup = outcome is not None and outcome.reason is EndReason.CONFIGURATION
        return ConfigurationError(call.error) if is_setup else ProviderError(call.error)

    def compare(self, turn: Turn) -> None:
        """Compare a turn that the policy completed with the stored one."""
        self._index = turn.index
        if turn.index >= len(self._recorded.turns):
            self._end(f"turn {turn.index + 1}")
        stored = self._recorded.turns[turn.index]
        if self.is_cut:
            raise RecordingEnds
        for what, was, now in _parts(stored, turn):
            if was != now:
                self._differs(what, _short(was), _short(now))
        self._index = turn.index + 1

    def compare_end(self, state: State) -> Difference | None:
        """Compare the end that the policy came to with the stored one."""
        stored, now = self._recorded.outcome, state.outcome
        if stored is None or now is None:
            return None
        if stored.reason in OUTSIDE:
            return None  # at a moment that nothing here knows
        counts = len(self._recorded.turns), len(state.turns)
        if counts[0] != counts[1] and not (state.is_open and counts[0] == counts[1] - 1):
            stored_count, now_count = map(str, counts)
            return Difference(
                turn=None, what="how many turns", stored=stored_count, replayed=now_count
            )
        answer = storable(now.answer) or storable("".join(state.draft.answer))
        partial = bool(answer) and (now.partial or not now.answer)
        told = {"answer": answer, "partial": partial, "message": storable(now.message)}
        now = now.model_copy(update=told)
        for what in ("status", "reason", "partial", "answer", "message"):
            was, came = getattr(stored, what), getattr(now, what)
            if was != came:
                shown = _short(was), _short(came)
                return Difference(turn=None, what=what, stored=shown[0], replayed=shown[1])
        return None

    def _end(self, wanted: str) -> NoReturn:
        """End where the run was ended from outside; elsewhere the policy wants more than it got."""
        outcome = self._recorded.outcome
        if outcome is None or outcome.reason in OUTSIDE | BEFORE_A_CALL:
            raise RecordingEnds
        self._differs("what comes next", "nothing", wanted)

    def _differs(self, what: str, stored: str, replayed: str) -> NoReturn:
        is_turn = self._index < len(self._recorded.turns)
        where = self._index if is_turn else None
        raise RecordingEnds(Difference(turn=where, what=what, stored=stored, replayed=replayed))


def _that_count(calls: Sequence[RecordedCall]) -> dict[int, list[RecordedCall]]:
    """Return the calls of each turn that led to what is stored, without those made again.

    A later attempt begins a turn anew, its action, or its action's own call, and so does a step
    that is asked again after a fault: what had been asked for that before is void.
    """
    counting: dict[int, list[RecordedCall]] = defaultdict(list)
    attempts: dict[int, int] = {}
    for call in calls:
        kept = counting[call.turn_index]
        is_anew = attempts.get(call.turn_index, call.attempt) != call.attempt
        if is_anew or (kept and kept[-1].error):
            kept[:] = [one for one in kept if not _is_void(one, call.purpose)]
        attempts[call.turn_index] = call.attempt
        kept.append(call)
    for kept in counting.values():
        kept[:] = [one for one in kept if one.error != ErrorKind.INTERRUPTED]
    return counting


def _is_void(earlier: RecordedCall, purpose: str) -> bool:
    if purpose in CHOOSING:
        return earlier.purpose in CHOOSING | WORKING
    return purpose not in WORKING or earlier.purpose in WORKING


_OBSERVED = ("error", "ends", "text")


def _parts(stored: Turn, now: Turn) -> Iterator[tuple[str, Any, Any]]:
    for part in ("kind", "text", "answer", "plan", "kept"):
        yield (
            f"thought.{part}",
            getattr(stored.thought, part, None),
            getattr(now.thought, part, None),
        )
    for was, came in zip_longest(stored.calls, now.calls):
        yield "action", was, came
    for was, came in zip_longest(stored.observations, now.observations):
        for part in ("error", "ends") if _are_complaints(stored, was, came) else _OBSERVED:
            yield f"observation.{part}", getattr(was, part, None), getattr(came, part, None)


def _are_complaints(stored: Turn, was: Observation | None, came: Observation | None) -> bool:
    """Tell whether both say that a reply could not be read, whose words a release may change."""
    both = (was, came)
    return not stored.calls and all(o and o.error == ErrorKind.PARSE_ERROR for o in both)


def _short(value: object) -> str:
    text = value.model_dump_json() if isinstance(value, Value) else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
