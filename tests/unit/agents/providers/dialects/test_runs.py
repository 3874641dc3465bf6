"""Whole runs against a server: what its replies cost, how they end, and what is asked again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import EndReason, ModelCall, Status, Usage
from agents.control import Control
from agents.events import Event, ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.state import State
from agents.text import CUT_SHORT
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker

PLUM = (
    '{"thought": "I weigh it.", "action": {"tool_name": "weigh", "parameters": {"what": "plum"}}}'
)
DONE = (
    '{"thought": "It is weighed.", "action": {"tool_name": "complete",'
    ' "parameters": {"result": "12 g"}}}'
)
STEPS = {
    "planned": (PLUM, DONE),
    "self_repair": (
        'Thought: I weigh it.\nAction: {"tool": "weigh", "inputs": {"what": "plum"}}',
        "<__final_answer__>12 g</__final_answer__>",
    ),
    "explicit": ('Thought: I weigh it.\nAction: weigh\nAction Input: {"what": "plum"}\n', None),
}
COUNTED = Usage(input_tokens=7, output_tokens=3)


@tool(may_repeat=True)
def weigh(what: str) -> str:
    """Weigh a thing."""
    return f"{what}: 12 g"


@dataclass
class Ran:
    """What became of a run."""

    state: State
    events: list[Event]

    @property
    def calls(self) -> list[ModelCall]:
        return [event.call for event in self.events if isinstance(event, ModelCalled)]

    @property
    def end(self) -> tuple[Status, str]:
        assert self.state.outcome is not None
        return self.state.outcome.status, self.state.outcome.answer


Runs = Callable[..., Ran]


@pytest.fixture
def runs(wire: Wire, speaker: "Speaker", provider_of: ProviderOf) -> Runs:
    def runs(policy: str = "explicit", **limits: Any) -> Ran:
        control = Control(60)
        model = Model(provider_of(wire.base_url, provider=speaker.name), control)
        parts = Parts(model, Toolkit([weigh]), Limits(max_turns=8, **limits))
        state = State("What does the plum weigh?")
        return Ran(state, list(run(build(PolicySpec(policy=policy), parts), state, control)))

    return runs


def answers(wire: Wire, speaker: "Speaker", text: str, *rest: Any) -> None:
    """Answer with a text, and then with the rest, or the end of a reply."""
    wire.answers(speaker.begins(), speaker.says(text), *(rest or [speaker.ends()]))


LENGTHS = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS"}


@pytest.mark.parametrize("is_known", [True, False])
def test_an_answer_that_the_model_was_cut_off_in_is_no_success(
    runs: Runs, wire: Wire, speaker: "Speaker", is_known: bool
) -> None:
    word = LENGTHS.get(speaker.name, "length") if is_known else "rained_off"
    answers(wire, speaker, "Final Answer: Twel", speaker.stops(word), b"0\r\n\r\n")

    ran = runs()

    assert ran.end == (Status.EXHAUSTED, f"Twel{CUT_SHORT}")
    assert ran.state.outcome is not None
    assert (ran.state.outcome.partial, ran.state.outcome.reason) == (True, EndReason.ANSWERED)
    assert ran.calls[0].is_cut


@pytest.mark.parametrize("policy", STEPS)
def test_every_call_of_a_run_is_counted_and_shares_one_connection(
    runs: Runs, wire: Wire, speaker: "Speaker", policy: str
) -> None:
    step, done = STEPS[policy]
    for fruit in ("plum", "pear", "fig", "lime"):
        answers(wire, speaker, step.replace("plum", fruit), speaker.says("\n"), speaker.ends())
    answers(wire, speaker, done or "Final Answer: 12 g")

    ran = runs(policy)

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert [call.usage for call in ran.calls] == [COUNTED] * 5
    assert (len(wire.requests), wire.connections) == (5, 1)


def test_a_model_that_goes_on_is_not_listened_to(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    endless = iter(lambda: speaker.says("and so on, " * 9), None)
    answers(wire, speaker, DONE, endless)

    ran = runs("planned")

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert (ran.calls[0].reply, ran.calls[0].stop_reason) == (DONE, "enough")
    assert wire.gone.wait(10)


def test_a_server_that_falls_silent_after_enough_does_not_hold_the_run(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    answers(wire, speaker, DONE, wire.HOLD)

    ran = runs("planned")

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert ran.calls[0].usage == Usage()
