"""What chaos runs ask for ends as its story says when nothing dies."""

import random

import pytest

from agents.contracts import EndReason, Status
from agents.control import Control
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.chaos.stories import KINDS, Story


@tool()
def marks__mark(token: str) -> str:
    """Make a mark; made twice, there are two."""
    return f"marked {token}"


@tool()
def marks__look(token: str) -> str:
    """Look at a token, which may be done again without harm."""
    return f"looked {token}"


def told(kind: str, seed: int) -> Story:
    """Return a story of a kind that nobody stops, and that nothing is waited for in."""
    return KINDS[kind][1](random.Random(seed), f"{kind}-{seed}")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("endless", "served")])
def test_a_story_is_told_to_its_end(kind: str, seed: int) -> None:
    story = told(kind, seed)
    script = [{k: v for k, v in entry.items() if k != "rate"} for entry in story.spec.model.script]
    spec = story.spec.model_copy(update={"approve": ()})
    control = Control()
    model = Model(ScriptedProvider(script), control)
    parts = Parts(model, Toolkit((marks__mark, marks__look)), spec.limits)
    state = State(goal=story.question)

    for _ in run(build(spec, parts), state, control):
        pass

    outcome = state.outcome
    assert outcome is not None
    assert (outcome.status, outcome.reason) in {
        (Status(status), EndReason(reason)) for status, reason in story.ends
    }
    if outcome.status is Status.SUCCEEDED:
        assert outcome.answer == story.answer
        called = [call.inputs for turn in state.turns for call in turn.calls]
        assert called == [step.inputs for step in story.steps]
