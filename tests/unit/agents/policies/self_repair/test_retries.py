"""What self-repair does about slips: repairs and retries, each of them bounded and on record."""

import json
from typing import Any

import pytest

from agents.contracts import EndReason, Status
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import TurnCompleted
from agents.state import State
from agents.tools.spec import Tool, tool
from tests.unit.agents.policies.self_repair.replies import (
    ANSWER,
    BROKEN,
    act,
    asked,
    observations,
    purposes,
)


class Unhurried(Control):
    """A control that keeps what it was asked to wait for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.check()


def failing(times: int) -> tuple[Tool, list[str]]:
    """Return a tool that fails so many times and then works, and the texts it was called with."""
    seen: list[str] = []

    @tool()
    def flaky(text: str) -> str:
        """Do a thing that often fails."""
        seen.append(text)
        if len(seen) <= times:
            raise ToolFailed("boom")
        return f"did {text}"

    return flaky, seen


@pytest.mark.parametrize(
    ("slip", "error"),
    [
        (act("ghost"), "ToolNotFound"),
        (act("add", left="two"), "InvalidInputs"),
        (act("add"), "InvalidInputs"),
        (act("broken", text="x"), "ToolFailed"),
        (BROKEN, "ParseError"),
        ('so\nAction: {"tool": "add", "inputs": [1]}', "ParseError"),
    ],
)
def test_a_slip_is_repaired_by_one_call_that_sees_the_error(
    self_repair: Any, slip: str, error: str
) -> None:
    played = self_repair.play([slip, act("add", left=1, right=1), ANSWER])

    first, second, _ = played.state.turns
    assert first.actions[0].observation.error == error
    assert second.actions[0].observation.text == "2"
    assert purposes(played) == ["think", "repair", "think"]
    assert first.actions[0].observation.text in asked(played.calls[1])


def test_a_repair_is_cool_and_knows_question_work_tools_and_action(self_repair: Any) -> None:
    played = self_repair.play(
        [act("search", query="q"), act("ghost", x=1), act("add", left=1), ANSWER], goal="Why?"
    )

    repair = played.calls[2]
    assert all(part in asked(repair) for part in ("Why?", "ran q", '{"tool": "ghost"', "Unknown"))
    assert "- add: " in json.loads(repair.request)["messages"][0]["content"]


def test_a_long_payload_is_clamped_in_the_repair(self_repair: Any) -> None:
    long = 'so\nAction: {"tool": "add", "inputs": "' + "x" * 50_000 + '"}'

    played = self_repair.play([long, act("add", left=1), ANSWER])

    assert len(asked(played.calls[1])) < 6_000
    assert "x" * 50_000 in played.state.turns[0].thought.text


def test_a_repair_that_names_another_tool_runs_that_tool(self_repair: Any) -> None:
    played = self_repair.play([act("broken", text="x"), act("search", query="x"), ANSWER])

    assert [call.tool for turn in played.state.turns[:2] for call in turn.calls] == [
        "broken",
        "search",
    ]
    assert observations(played)[1] == "ran x"


def test_what_comes_back_is_checked_like_any_action(self_repair: Any) -> None:
    played = self_repair.play(
        [act("ghost"), act("phantom"), act("add", left="x"), act("add", left=4), ANSWER]
    )

    errors = [seen.error for turn in played.state.turns[:3] for seen in turn.observations]
    assert errors == ["ToolNotFound", "ToolNotFound", "InvalidInputs"]
    assert purposes(played) == ["think", "repair", "repair", "think", "think"]


def test_repairs_of_what_cannot_be_read_are_bounded(self_repair: Any) -> None:
    played = self_repair.play([BROKEN] * 6 + ["Nothing worked."], max_turns=20)

    assert purposes(played) == [*("think", "repair", "repair") * 2, "summarize"]
    assert (played.outcome.status, played.outcome.reason) == (Status.EXHAUSTED, EndReason.FAILURES)
    assert (played.outcome.answer, played.outcome.partial) == ("Nothing worked.", True)


@pytest.mark.parametrize(("retries", "repairs"), [(0, 0), (1, 1), (4, 4)])
def test_the_bound_is_a_setting_of_the_version(
    self_repair: Any, retries: int, repairs: int
) -> None:
    played = self_repair.play(
        [BROKEN] * (repairs + 1) + [ANSWER], max_turns=9, max_parse_retries=retries
    )

    assert purposes(played) == ["think", *["repair"] * repairs, "think"]


def test_a_tool_that_keeps_failing_is_told_and_the_run_goes_on(self_repair: Any) -> None:
    flaky, seen = failing(times=9)
    script = [act("flaky", text=str(n)) for n in range(3)] + [ANSWER]

    played = self_repair.play(script, tools=[flaky])

    assert seen == ["0", "1", "2"]
    assert observations(played) == ["boom", "boom", "[tool:flaky] failed after retries: boom"]
    assert purposes(played) == ["think", "repair", "repair", "think"]
    assert played.outcome.answer == "ok"


def test_a_tool_that_recovers_is_only_an_observation(self_repair: Any) -> None:
    flaky, seen = failing(times=1)

    played = self_repair.play([act("flaky", text="x")] * 2 + [ANSWER], tools=[flaky])

    assert observations(played) == ["boom", "did x"]
    assert seen == ["x", "x"]


def test_what_a_failing_tool_has_printed_stays(self_repair: Any) -> None:
    played = self_repair.play([act("crashing", text="x"), ANSWER], max_tool_errors=0)

    assert observations(played)[0].startswith("half \n[tool:crashing] failed after retries: ")


def test_the_pause_before_a_retry_of_a_tool_grows_linearly(self_repair: Any) -> None:
    flaky, _ = failing(times=9)
    control = Unhurried()

    self_repair.play(
        [act("flaky", text="x")] * 3 + [ANSWER], tools=[flaky], control=control, backoff_seconds=0.8
    )

    assert control.pauses == [0.8, 1.6]


def test_what_cannot_be_read_is_repaired_at_once_and_then_after_a_pause(self_repair: Any) -> None:
    control = Unhurried()

    self_repair.play([BROKEN] * 3 + [ANSWER], control=control, backoff_seconds=0.8)

    assert control.pauses == [0.0, 0.8]


def test_a_stop_ends_the_pause_and_no_model_or_tool_is_called_any_more(self_repair: Any) -> None:
    flaky, seen = failing(times=9)
    control, events = Control(), []
    script = [act("flaky", text="x")] * 3

    state = State("Q?")
    for event in self_repair.events(
        script, state, tools=[flaky], control=control, backoff_seconds=60
    ):
        events.append(event)
        if isinstance(event, TurnCompleted):
            control.stop()

    assert state.outcome is not None
    assert state.outcome.status is Status.STOPPED
    assert seen == ["x"]


def test_without_a_model_to_repair_a_harmless_call_is_made_again(self_repair: Any) -> None:
    flaky, seen = failing(times=1)

    played = self_repair.play([act("flaky", text="x"), ANSWER], tools=[flaky], repair=False)

    assert seen == ["x", "x"]
    assert purposes(played) == ["think", "think"]
    assert played.state.turns[1].thought.text == "Try 2 of the same call."


def test_without_a_model_to_repair_nothing_that_may_do_harm_is_made_again(self_repair: Any) -> None:
    seen: list[str] = []

    @tool(idempotent=False)
    def pay(text: str) -> str:
        """Pay once."""
        seen.append(text)
        raise ToolFailed("no money")

    played = self_repair.play([act("pay", text="x"), ANSWER], tools=[pay], repair=False)

    assert seen == ["x"]
    assert purposes(played) == ["think", "think"]


def test_a_repair_that_finds_no_tool_lets_the_model_think_on(self_repair: Any) -> None:
    none = 'No tool can.\nAction: {"tool": null}'

    played = self_repair.play([act("broken", text="x"), none, act("add", left=1), ANSWER])

    assert played.state.turns[1].thought.text == "No tool can.\n\nso"
    assert purposes(played) == ["think", "repair", "think", "think"]
    assert [turn.index for turn in played.state.turns] == [0, 1, 2]
    assert "ERROR: ToolFailed: cannot x" in asked(played.calls[2])
