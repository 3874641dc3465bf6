"""What every policy promises of an action that its person is asked about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agents.act.approval import ApprovalAnswer
from agents.contracts import ToolCall
from agents.errors import ConfigurationError, Parked
from agents.events import ActionStarted, Event
from agents.policies import POLICIES
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from tests.unit.agents.policies.contract.scripts import TELL, Entry
from tests.unit.agents.policies.contract.stored import observations, turns_and_proposals


class Desk:
    """Where approvals lie: an action is asked about once, answered, and begun at most once."""

    def __init__(self) -> None:
        self.open: list[ToolCall] = []
        self.answer: ApprovalAnswer | None = None
        self.begun: list[ToolCall] = []

    def ask(self, tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        if self.answer is None:
            self.open.append(call)
            raise Parked
        has_begun = call in self.begun
        self.begun.append(call)
        return self.answer.model_copy(update={"has_begun": has_begun})


@dataclass
class Lived:
    """How a run went that was parked, answered, and killed at one moment."""

    state: State
    sent: list[str]
    desk: Desk
    events: list[Event]


@tool()
def search(query: str) -> str:
    """Search the web for a text."""
    return f"ran {query}"


def live(
    stage: Any, said: Sequence[Entry], answer: ApprovalAnswer, die_at: int | None = None
) -> Lived:
    """Play a run attempt by attempt from what is stored; its worker dies after `die_at` events."""
    sent: list[str] = []

    @tool(idempotent=False, safety=Safety.SENSITIVE)
    def send(text: str) -> str:
        """Send a message once."""
        sent.append(text)
        return f"sent {text}"

    desk, kept, seen = Desk(), list[Event](), 0
    while True:
        stored = turns_and_proposals(kept)
        kept = kept[: stored.events]
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        tools = (search, send)
        events = stage.events(said, state, tools=tools, position=stored.calls, ask=desk.ask)
        try:
            for event in events:
                kept.append(event)
                seen += 1
                if seen == die_at:
                    break
            else:
                return Lived(state, sent, desk, kept)
        except Parked:
            desk.answer = answer
        events.close()


YES, NO = ApprovalAnswer(granted=True), ApprovalAnswer(granted=False, feedback="Not now.")


@pytest.mark.parametrize("policy", POLICIES)
def test_an_action_that_was_waited_for_runs_as_if_it_had_not_been(
    policy: str, stage: Callable[[str], Any]
) -> None:
    lived = live(stage(policy), TELL[policy], YES)

    asked_at_once = stage(policy).play(TELL[policy])
    assert (lived.state.turns, lived.state.outcome) == (
        asked_at_once.state.turns,
        asked_at_once.outcome,
    )
    assert (lived.sent, len(lived.desk.open)) == (["x"], 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_death_at_any_event_asks_anew_or_agrees_and_never_acts_twice(
    policy: str, stage: Callable[[str], Any]
) -> None:
    whole = live(stage(policy), TELL[policy], YES)

    for moment in range(1, len(whole.events) + 3):
        lived = live(stage(policy), TELL[policy], YES, die_at=moment)
        (action,) = observations(lived.state)
        assert action is not None
        assert len(lived.sent) <= 1
        if action.error is None:
            assert (lived.sent, lived.state.turns) == (["x"], whole.state.turns)
            assert lived.state.outcome == whole.state.outcome
        else:
            assert action.error == "Interrupted"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_refused_action_is_not_run_and_the_run_goes_on(
    policy: str, stage: Callable[[str], Any]
) -> None:
    lived = live(stage(policy), TELL[policy], NO)

    (action,) = observations(lived.state)
    assert action is not None
    assert (action.error, lived.sent) == ("NotApproved", [])
    assert "Not now." in action.text
    assert lived.state.outcome is not None
    assert lived.state.outcome.answer == "a"


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_runs_a_risky_tool_with_nobody_to_ask(
    policy: str, stage: Callable[[str], Any]
) -> None:
    events = stage(policy).events(TELL[policy], State("Q?"), approve=("se*",))

    assert not any(isinstance(event, ActionStarted) for event in events)


def test_a_slip_in_the_name_of_a_tool_to_ask_about_is_refused(stage: Callable[[str], Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"'sned', which is no tool.*send"):
        stage("explicit").events([], State("Q?"), approve=("sned",))
