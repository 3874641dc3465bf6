"""Whole runs against a server: what its replies cost, how they end, and what is asked again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from agents.again import TRIES
from agents.contracts import EndReason, ModelCall, Status, Usage
from agents.control import Control
from agents.events import Event, ModelCalled, TurnStarted
from agents.loop import run
from agents.model.budget import Budget
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
    def runs(policy: str = "explicit", **settings: Any) -> Ran:
        control = Control(60)
        model = Model(provider_of(wire.base_url, provider=speaker.name), control, **settings)
        parts = Parts(model, Toolkit([weigh]), Limits(max_turns=8))
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
    assert [call.usage for call in ran.calls] == [speaker.usage] * 5
    assert (len(wire.requests), wire.connections) == (5, 1)


def test_a_model_that_goes_on_is_not_listened_to(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    endless = iter(lambda: speaker.says("and so on, " * 9), None)
    answers(wire, speaker, DONE, endless)

    ran = runs("planned")

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert ran.calls[0].reply.startswith(DONE)
    assert ran.calls[0].stop_reason == "enough"
    assert wire.gone.wait(10)


def test_a_server_that_falls_silent_after_enough_does_not_hold_the_run(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    answers(wire, speaker, DONE, wire.HOLD)

    ran = runs("planned")

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert ran.calls[0].usage == Usage()


@pytest.mark.parametrize("policy", STEPS)
def test_a_step_whose_reply_broke_off_half_way_is_asked_again(
    runs: Runs, wire: Wire, speaker: "Speaker", policy: str
) -> None:
    step, done = STEPS[policy]
    answers(wire, speaker, step[:30], speaker.fails("The model crashed."), speaker.ends())
    answers(wire, speaker, step)
    answers(wire, speaker, (done or "Final Answer: 12 g")[:15], wire.CUT)
    answers(wire, speaker, done or "Final Answer: 12 g")

    ran = runs(policy)

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert [bool(call.error) for call in ran.calls] == [True, False, True, False]
    assert [e.index for e in ran.events if isinstance(e, TurnStarted)] == [0, 0, 1, 1]
    assert [len(turn.actions) for turn in ran.state.turns] == [1, 0]


def test_a_server_that_breaks_off_every_time_ends_the_run_with_its_words(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    answers(wire, speaker, "Thought: I", speaker.fails("The model crashed."), speaker.ends())

    ran = runs()

    assert ran.end[0] is Status.FAILED
    assert ran.state.outcome is not None
    assert "The model crashed." in ran.state.outcome.message
    assert len(wire.requests) == TRIES
    assert [turn.thought.text for turn in ran.state.turns if turn.thought] == ["I"]


def test_no_step_is_asked_again_that_the_run_has_no_tokens_for(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    answers(wire, speaker, "Thought: I" + " think" * 99, speaker.fails("No."), speaker.ends())

    ran = runs(budget=Budget(most_tokens=50))

    assert (ran.end[0], len(wire.requests)) == (Status.EXHAUSTED, 2)


def test_what_the_server_refuses_half_way_is_not_asked_again(
    runs: Runs, wire: Wire, speaker: "Speaker"
) -> None:
    error = {"error": {"type": "invalid_request_error", "message": "No.", "code": 400}}
    answers(wire, speaker, "Thought: I", speaker.sends({"type": "error", **error}))

    assert runs().end[0] is Status.FAILED
    assert len(wire.requests) == 1


@pytest.mark.parametrize("purpose", ["choose", "fill"])
def test_an_action_whose_choice_broke_off_is_chosen_again_and_carried_out_once(
    runs: Runs, wire: Wire, speaker: "Speaker", purpose: str
) -> None:
    broken = [speaker.says("we"), wire.CUT]
    answers(wire, speaker, '{"kind": "ACTION", "text": "Weigh the plum."}')
    replies = {"choose": "weigh", "fill": '{"what": "plum"}'}
    for name, text in replies.items():
        if name == purpose:
            answers(wire, speaker, text[:3], *broken)
            if name == "fill":
                answers(wire, speaker, replies["choose"])
        answers(wire, speaker, text)
    answers(wire, speaker, '{"kind": "FINAL", "text": "12 g"}')

    ran = runs("implicit")

    assert ran.end == (Status.SUCCEEDED, "12 g")
    assert [len(turn.actions) for turn in ran.state.turns] == [1, 0]
