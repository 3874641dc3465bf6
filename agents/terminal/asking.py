"""Ask questions of one policy and one model at a terminal; each is a run of its own."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from agents.act.approval import Ask, nobody
from agents.contracts import EndReason, Exchange, Outcome, Status
from agents.control import Control
from agents.events import Event, RunEnded
from agents.loop import run
from agents.model.model import Model
from agents.planning import goal_plan_of
from agents.policies import build
from agents.policies.budgets import budget_for
from agents.policies.by_role import models_by_purpose
from agents.policies.context import Parts
from agents.policies.spec import PolicySpec
from agents.providers.connect import connect
from agents.providers.named.providers import NO_NAMES, NamedProviders
from agents.state import State
from agents.terminal.approval import AtTheTerminal
from agents.terminal.page import EventLines, TerminalPage
from agents.tools.catalogue import FoundTurn, toolkit
from agents.tools.setup import ToolSetup


class Asking:
    """One policy and its model, and where their runs are written.

    `outlives` says that Ctrl-C ends the run alone, however often; else a second one ends the
    program. `is_ended` says that the program was told to end while a run was at work.
    """

    def __init__(
        self,
        spec: PolicySpec,
        setup: ToolSetup,
        environment: Mapping[str, str],
        *,
        named: NamedProviders = NO_NAMES,
        instructions: str = "",
        as_json: bool = False,
        outlives: bool = False,
    ) -> None:
        self._spec, self._setup, self._instructions = spec, setup, instructions
        self._prices, self._named = environment.get("TURNSTONE_PRICES", ""), named
        self._as_json = as_json
        self._has_colour = sys.stdout.isatty() and not environment.get("NO_COLOR")
        self._outlives = outlives
        self._is_introduced = as_json
        self._provider = connect(spec.model, environment, named)
        self._by_role = {
            role: connect(choice, environment, named) for role, choice in spec.models.items()
        }
        self.is_ended = False
        self.plan: dict[str, Any] | None = None
        """What the last run had planned, as it stood at its end."""

    def ask(self, question: str, history: Sequence[Exchange] = ()) -> Outcome:
        """Write the run while it happens; raises ConfigurationError where it cannot begin."""
        limits = self._spec.limits
        control = Control(limits.seconds, limits.idle_seconds, call_seconds=limits.call_seconds)
        budget = budget_for(self._spec, self._provider, self._prices, self._named)
        choice = self._spec.model
        model = Model(
            self._provider,
            control,
            choice.temperature,
            choice.max_tokens,
            budget=budget,
            others=models_by_purpose(self._spec, control, self._by_role.__getitem__),
        )
        kit = toolkit(self._spec.tools, find_turns=_no_turns, setup=self._setup, control=control)
        try:
            ask = _whom_to_ask(control)
            parts = Parts(model, kit, limits, ask=ask, person=self._instructions)
            policy = build(self._spec, parts)
            state = State(question, history)
            with self._stopped_by_signals(control):
                outcome = self._follow(run(policy, state, control), control)
            plan = goal_plan_of(state.turns)
            self.plan = None if plan is None else plan.model_dump(mode="json")
            return outcome
        finally:
            kit.close()

    def _follow(self, events: Iterator[Event], control: Control) -> Outcome:
        sink: EventLines | TerminalPage = EventLines(sys.stdout)
        if not self._as_json:
            sink = TerminalPage(sys.stdout, has_colour=self._has_colour)
            if not self._is_introduced:
                self._provider.learn(control)
                sink.introduce(self._spec.policy, self._provider)
        self._is_introduced = True
        outcome = Outcome(status=Status.FAILED, reason=EndReason.INTERNAL, message="")
        for event in events:
            sink.show(event)
            if isinstance(event, RunEnded):
                outcome = event.outcome
        return outcome

    @contextmanager
    def _stopped_by_signals(self, control: Control) -> Iterator[None]:
        """Let the first signal end the run with what it has."""

        def stop(number: int, frame: FrameType | None) -> None:
            if number == signal.SIGTERM:
                self.is_ended = True
            if number == signal.SIGTERM or not self._outlives:
                signal.signal(number, signal.SIG_DFL)
            control.stop()

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _whom_to_ask(control: Control) -> Ask:
    is_somebody_there = sys.stdin.isatty() and sys.stderr.isatty()
    return AtTheTerminal(sys.stdin, sys.stderr, control) if is_somebody_there else nobody


def _no_turns(query: str) -> Sequence[FoundTurn]:
    """Find nothing: a run in a terminal leaves no transcript."""
    return ()
