"""Replay a stored run: its policy again, with the replies and observations that it got then.

A policy decides from its State alone, so the same replies and observations must lead to the same
turns and the same end. Where they do not, either the record or the policy's code has changed.
"""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from agents import loop
from agents.contracts import Turn
from agents.control import Control
from agents.events import ActionsProposed, Event, ObservationDelta, Observed, TurnCompleted
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import PolicySpec
from agents.policy import Act
from agents.providers.base import (
    TOOLS,
    Finish,
    IsShown,
    ModelRequest,
    Provider,
    Reply,
    Token,
    not_shown,
)
from agents.record.tape import Difference, Recorded, RecordingEnds, Tape
from agents.state import State
from agents.tools.toolkit import Toolkit


def replay(
    spec: PolicySpec,
    toolkit: Toolkit,
    recorded: Recorded,
    as_stored: Callable[[Turn], Turn] = lambda turn: turn,
) -> Difference | None:
    """Run the policy on what is recorded; return the first difference, None if there is none.

    No model is asked and no tool is run. `as_stored` is what storing does to a turn. Raises
    ConfigurationError when the policy cannot be built.
    """
    tape = Tape(recorded)
    control = _Unhurried()
    parts = Parts(
        model=Model(_Replies(tape), control, budget=tape),
        toolkit=toolkit,
        limits=spec.limits,
        person=recorded.person,
        conversation=recorded.conversation,
    )
    policy = build(spec, parts)
    policy = replace(policy, act=_Observations(policy.act, tape))
    state = State(goal=recorded.goal, history=recorded.history)
    try:
        with closing(_events(loop.run(policy, state, control))) as events:
            for event in events:
                tape.apply(event)
                if isinstance(event, TurnCompleted):
                    tape.compare(as_stored(event.turn))
    except RecordingEnds as end:
        return end.difference
    return tape.compare_end(state)


def _events(events: Iterator[Event]) -> Generator[Event, None, None]:
    yield from events


class _Unhurried(Control):
    """Wait for nothing: pauses have been made when the run was."""

    def wait(self, seconds: float) -> None:
        self.check()


class _Replies(Provider):
    """A model that says what it said then."""

    name = "recorded"
    model = "recorded"

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._purpose = ""
        self._offers_tools = False

    def body(self, request: ModelRequest) -> str:
        self._purpose = request.purpose
        self._offers_tools = bool(request.tools)
        return json.dumps({"purpose": request.purpose})

    def refuses(self, parameter: str) -> bool:
        return parameter == TOOLS and self._tape.refuses_tools

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        call = self._tape.call(self._purpose)
        if call.reasoning:
            yield Token(text=call.reasoning, kind="reasoning")
        said, made = self._tape.parted(call) if self._offers_tools else (call.reply, [])
        if said:
            yield Token(text=said)
        yield from made
        if call.error:
            raise self._tape.failure(call)
        yield Finish(stop_reason=call.stop_reason, usage=call.usage)


@dataclass(frozen=True)
class _Observations:
    """Act as wrapped up to the actions themselves, which are not carried out but remembered."""

    act: Act
    tape: Tape

    def __call__(self, state: State) -> Iterator[Event]:
        if (position := state.turns[-1].position) is not None:
            yield from self._observed(position)
            return
        with closing(_events(self.act(state))) as events:
            for event in events:
                yield event
                if isinstance(event, ActionsProposed):
                    yield from self._observed(0)
                    return

    def _observed(self, position: int) -> Iterator[Event]:
        seen = self.tape.observation(position)
        if self.tape.is_cut_at(position):
            yield ObservationDelta(text="" if seen is None else seen.text)
            raise self.tape.cause()
        if seen is not None:
            yield Observed(observation=seen)
