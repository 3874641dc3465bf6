"""A replay does not depend on the form that was asked for: a version may say nothing of it."""

import json
from collections.abc import Callable

import pytest

from agents.contracts import Status
from agents.control import Control
from agents.events import Event, ModelCalled, TurnStarted
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.record.replay import replay
from agents.record.tape import Recorded, RecordedCall
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit


@tool(may_repeat=True)
def weigh(what: str) -> str:
    """Weigh a thing."""
    return f"{what}: 12 g"


def _step(name: str, **parameters: str) -> str:
    return json.dumps({"thought": "So.", "action": {"tool": name, "parameters": parameters}})


SCRIPTS = {
    "planned": [_step("weigh", what="plum"), _step("complete", result="12 g")],
    "implicit": [
        '{"kind": "ACTION", "text": "Weigh the plum"}',
        "weigh",
        '{"what": "plum"}',
        '{"kind": "FINAL", "text": "12 g"}',
    ],
}


@pytest.fixture
def played() -> Callable[[PolicySpec], Recorded]:
    def played(spec: PolicySpec) -> Recorded:
        provider = ScriptedProvider([{"say": text} for text in SCRIPTS[spec.policy]])
        control, state = Control(60), State("What does the plum weigh?")
        parts = Parts(Model(provider, control), Toolkit([weigh]), spec.limits)
        events = list(run(build(spec, parts), state, control))
        assert state.outcome is not None
        assert state.outcome.status is Status.SUCCEEDED
        return Recorded(state.goal, tuple(state.turns), tuple(_calls(events)), state.outcome)

    return played


def _calls(events: list[Event]) -> list[RecordedCall]:
    index, calls = 0, list[RecordedCall]()
    for event in events:
        if isinstance(event, TurnStarted):
            index = event.index
        elif isinstance(event, ModelCalled):
            kept = {name: getattr(event.call, name) for name in ("purpose", "reply", "error")}
            calls.append(RecordedCall(turn_index=index, attempt=1, **kept))
    return calls


@pytest.mark.parametrize("policy", SCRIPTS)
def test_a_run_that_asked_for_no_form_replays_under_a_version_of_before(
    played: Callable[[PolicySpec], Recorded], policy: str
) -> None:
    record = played(PolicySpec(policy=policy, settings={"structured": False}))

    assert replay(PolicySpec(policy=policy), Toolkit([weigh]), record) is None


@pytest.mark.parametrize("policy", SCRIPTS)
def test_a_run_that_asked_for_a_form_replays_without_it(
    played: Callable[[PolicySpec], Recorded], policy: str
) -> None:
    record = played(PolicySpec(policy=policy))

    off = PolicySpec(policy=policy, settings={"structured": False})
    assert replay(off, Toolkit([weigh]), record) is None
