"""Play a reply that is a text with each policy, whole and in pieces.

A model says the same reply whatever it is asked, so an answer that is taken after the second asking
is one, too. The tools are those that were offered; what ran is what counts, so a call that names a
tool that was not, or that lacks an input, is an honest end.

All policies that go step by step play every case, also where it is not of the form that a policy
asks for. Those that make their calls in one go play the cases without a call: a call alone is no
plan. No case is an exception.
"""

import random
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from agents import loop
from agents.contracts import Status
from agents.control import Control
from agents.events import AnswerDelta, Event, TurnCompleted
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.base import (
    Finish,
    IsShown,
    ModelRequest,
    Provider,
    Reply,
    Token,
    encoded,
    not_shown,
)
from agents.state import State
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from tests.replies.outcome import Outcome, wrong

Case = Mapping[str, Any]

SETTINGS: dict[str, dict[str, Any]] = {
    "explicit": {},
    "reflexion": {},
    "self_repair": {"backoff_seconds": 0},
    "implicit": {},
    "planned": {},
    "native": {},
}
"""The policies that go step by step, with the settings that make them wait for nothing."""

IN_ONE_GO = ("plan_execute", "rewoo")

_CUTS = 3
_TURNS = 8


class Parrot(Provider):
    """Say the same reply to whatever is asked, in these pieces."""

    name = "parrot"
    model = "parrot"

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    def body(self, request: ModelRequest) -> str:
        """Return the purpose alone: nothing is posted."""
        return encoded({"purpose": request.purpose})

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Yield the reply."""
        for piece in self._pieces:
            yield Token(text=piece)
        yield Finish(stop_reason="stop")


def play(case: Case) -> dict[str, str]:
    """Return what is wrong with each policy's outcome; that of the first pieces that differ."""
    policies = [*SETTINGS] if case["expect"]["calls"] else [*SETTINGS, *IN_ONE_GO]
    return {policy: _first_wrong(policy, case) for policy in policies}


def _first_wrong(policy: str, case: Case) -> str:
    for name, pieces in _in_pieces(case["reply"], case["id"]):
        found = wrong(_outcome(policy, case, pieces), case)
        if found:
            return f"{name}: {found}"
    return ""


def _in_pieces(reply: str, seed: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the reply whole, letter by letter, and cut at random, the same way every time."""
    yield "whole", [reply]
    yield "letter by letter", list(reply)
    for number in range(_CUTS):
        dice = random.Random(f"{seed} {number}")  # noqa: S311 - cuts, no secret
        places = sorted(dice.randrange(len(reply) + 1) for _ in range(1 + len(reply) // 9))
        ends = zip([0, *places], [*places, len(reply)], strict=True)
        yield f"cut {number + 1}", [reply[start:end] for start, end in ends]


def _outcome(policy: str, case: Case, pieces: Sequence[str]) -> Outcome:
    ran: list[tuple[str, Mapping[str, Any]]] = []
    toolkit = Toolkit(_tool(offered, ran) for offered in case.get("tools") or ())
    control = Control()
    parts = Parts(Model(Parrot(pieces), control), toolkit, Limits(max_turns=_TURNS))
    built = build(PolicySpec(policy=policy, settings=SETTINGS.get(policy, {})), parts)
    state = State("What is asked?")
    shown: list[str] = []
    with closing(_events(loop.run(built, state, control))) as events:
        for event in events:
            if isinstance(event, AnswerDelta):
                shown.append(event.text)
            if isinstance(event, TurnCompleted) and ran:
                break
    outcome = state.outcome
    is_answer = outcome is not None and outcome.status is Status.SUCCEEDED and not outcome.partial
    return Outcome(
        calls=ran,
        answer=outcome.answer if outcome is not None and is_answer else None,
        shown="".join(shown),
        thought="\n\n".join(turn.thought.text for turn in state.turns if turn.thought),
    )


def _events(events: Iterable[Event]) -> Generator[Event, None, None]:
    yield from events


def _tool(offered: Mapping[str, Any], ran: list[tuple[str, Mapping[str, Any]]]) -> Tool:
    name = offered["name"]

    def run(**inputs: Any) -> str:
        ran.append((name, inputs))
        return "done"

    return Tool(
        name=name,
        description=offered.get("description") or f"Do what {name} does.",
        inputs=JsonInputs(offered.get("parameters") or {}),
        run=run,
    )
