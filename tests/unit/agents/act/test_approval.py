"""Risky actions wait for a yes."""

import pytest

from agents.act.approval import ApprovalAnswer, ApprovedAct, nobody
from agents.act.named_tool import NamedToolAct
from agents.contracts import Action, Thought, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.errors import Parked
from agents.events import ActionsProposed, ActionStarted, Event, ObservationDelta, Observed
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit


@tool(safety=Safety.DANGEROUS, idempotent=False)
def remove(path: str) -> str:
    """Remove a file."""
    return f"removed {path}"


@tool(safety=Safety.MODERATE)
def read(path: str) -> str:
    """Read a file."""
    return f"read {path}"


KIT = Toolkit([remove, read])
CALL = ToolCall(tool="remove", inputs={"path": "a"})
GONE = ToolCall(tool="read", inputs={"path": "a"})


def state(call: ToolCall, *, is_proposed: bool = False) -> State:
    node = Thought(kind=ThoughtKind.ACTION, text="t", calls=(call,))
    actions = (Action(call=call),) if is_proposed else ()
    return State("Q?", turns=[Turn(index=0, thought=node, actions=actions)], is_open=True)


def yes(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
    return ApprovalAnswer(granted=True)


def no(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
    return ApprovalAnswer(granted=False, feedback="use `ls` instead")


def events(act: ApprovedAct, at: State) -> list[Event]:
    return list(act(at))


def test_with_nobody_to_ask_a_risky_tool_does_not_run() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT)

    proposed, observed = events(act, state(CALL))

    assert proposed == ActionsProposed(calls=(CALL,))
    assert isinstance(observed, Observed)
    assert observed.observation.error == "NotApproved"


def test_what_the_person_said_is_told_to_the_model() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, no)

    observed = events(act, state(CALL))[-1]

    assert isinstance(observed, Observed)
    assert "use `ls` instead" in observed.observation.text


def test_an_approved_call_runs() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, yes)

    assert ObservationDelta(text="removed a") in events(act, state(CALL))


def test_an_allowed_call_that_was_only_proposed_runs_though_it_may_not_run_twice() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, yes)

    assert ObservationDelta(text="removed a") in events(act, state(CALL, is_proposed=True))


def test_an_allowed_call_that_had_begun_is_not_made_again() -> None:
    def had_begun(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        return ApprovalAnswer(granted=True, has_begun=True)

    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, had_begun)

    (observed,) = events(act, state(CALL, is_proposed=True))

    assert isinstance(observed, Observed)
    assert observed.observation.error == "Interrupted"


def test_a_call_is_proposed_before_anybody_is_asked() -> None:
    def later(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        raise Parked

    told = ApprovedAct(NamedToolAct(KIT, Control()), KIT, later)(state(CALL))
    assert next(told) == ActionsProposed(calls=(CALL,))
    with pytest.raises(Parked):
        next(told)


@pytest.mark.parametrize(
    ("name", "is_asked"), [("read", True), ("re*", True), ("*", True), ("rea", False), ("r", False)]
)
def test_a_tool_that_is_named_is_asked_about(name: str, is_asked: bool) -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, no, (name,))

    assert (ObservationDelta(text="read a") in events(act, state(GONE))) is not is_asked


def test_a_harmless_tool_asks_nobody() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, nobody)

    assert ObservationDelta(text="read a") in events(act, state(GONE))


def test_a_call_proposed_before_a_crash_is_not_made_unasked() -> None:
    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT)

    seen = events(act, state(CALL, is_proposed=True))

    assert [type(event) for event in seen] == [Observed]
    assert not any(isinstance(event, ActionStarted) for event in seen)


@pytest.mark.parametrize("inputs", [{}, {"path": 7}, {"path": "a", "force": True}])
def test_nobody_is_asked_about_a_call_that_cannot_be_made(inputs: dict[str, object]) -> None:
    def never(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        raise AssertionError("Nobody should be asked.")

    act = ApprovedAct(NamedToolAct(KIT, Control()), KIT, never)

    observed = events(act, state(ToolCall(tool="remove", inputs=inputs)))[-1]

    assert isinstance(observed, Observed)
    assert observed.observation.error == "InvalidInputs"
