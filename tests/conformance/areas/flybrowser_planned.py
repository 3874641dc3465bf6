"""FlyBrowser's agent as the policy `planned`: its stops, its end, its plan, and whom it asks."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.act.approval import ApprovalAnswer, Ask, nobody
from agents.contracts import EndReason, Outcome, Status, ToolCall
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import ActionStarted, Event, ModelCalled, RunEnded
from agents.loop import run
from agents.model.model import Model
from agents.planning import fallback_plan, goal_plan_of, needs_plan
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.planned import Settings, exempt
from agents.policies.spec import Limits, PolicySpec
from agents.prompting.window import action_text
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.finishing import complete
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

GOAL = "Find it"
SUMMARY = "as far as I came"
PARSE_FAILURES = (
    "a reply that two repairs could not make readable ends the run at once, so that no count of "
    "further ones is ever reached; upstream its count of 5 is never reached either"
)
STATES = {
    "idle": "the stored run is queued",
    "thinking": "turn.started",
    "acting": "action.started",
    "observing": "observed",
    "waiting_approval": "action.proposed, before `ask` has answered",
    "paused": "the stored run is waiting",
    "completed": Status.SUCCEEDED.value,
    "failed": Status.FAILED.value,
    "cancelled": Status.STOPPED.value,
}


@dataclass
class _Played:
    """A run from a script: its state, its events, the inputs that its tools were run with."""

    state: State
    events: list[Event]
    ran: list[str]

    @property
    def outcome(self) -> Outcome:
        assert self.state.outcome is not None
        return self.state.outcome

    @property
    def is_success(self) -> bool:
        return self.outcome.status is Status.SUCCEEDED

    def purposes(self) -> list[str]:
        return [event.call.purpose for event in self.events if isinstance(event, ModelCalled)]


def check_stop(case: Case) -> str | None:
    """Play what never ends by itself, and see what stops it and when."""
    given, expected = case["input"], case["expected"]
    if isinstance(given, str):
        words = [word.strip() for word in given.split(",")]
        script = [_step("works" if word == "ok" else "fails", at=n) for n, word in enumerate(words)]
        played = _play([*script, _step("complete", result="done")])
        assert (played.outcome.reason is EndReason.FAILURES) == expected["stopped"]
        return None
    if any("parse" in name for name in given):
        return PARSE_FAILURES
    if "max_consecutive_failures" in given:
        most = given["max_consecutive_failures"]
        script = [_step("fails", at=number) for number in range(most + 2)]
        played = _play([*script[:most], SUMMARY], settings={"max_failures": most})
        assert len(played.state.turns) == expected["stopped_after"]
        assert expected["error"] in played.outcome.message
    else:
        most = given["max_iterations"]
        names = ("works", "other")
        script = [_step(names[number % 2], at=number) for number in range(most)]
        played = _play([*script, SUMMARY], max_turns=most)
        assert len(played.state.turns) == expected["iterations"]
        assert played.outcome.reason is EndReason.TURNS
    assert played.is_success == expected["success"]
    return None


def check_loop(case: Case) -> str | None:
    """Play the actions, and see whether going in a circle is noticed."""
    given, expected = case["input"], case["expected"]
    if isinstance(given, list):
        applies = any(name not in exempt(Settings(), Toolkit([complete])) for name in given)
        assert applies == expected["same_tool_rule_applies"]
        return None
    if "a" in given:
        one, other = (ToolCall(tool=c["tool"], inputs=c["parameters"]) for c in given.values())
        is_same = one == other and action_text(one) == action_text(other)
        assert is_same == expected["same_signature"]
        return None
    calls = [action.partition(" ") for action in given["actions"]]
    script = [_step(name, selector=selector) for name, _, selector in calls]
    settings = {"max_same_tool": given.get("max_same_tool_calls", 5)}
    tools = [_accepting(name) for name in {name for name, _, _ in calls}]
    played = _play([*script, SUMMARY], settings=settings, tools=tools)
    assert (played.outcome.reason is EndReason.REPEATS) == expected["stopped"]
    assert expected.get("error_contains", "") in played.outcome.message
    return None


def check_completion(case: Case) -> str | None:
    """Let the model end the run, by success or by giving up."""
    given, expected = case["input"], case["expected"]
    played = _play([_step(given.get("tool", "fail"), **given.get("parameters", {}))])
    outcome = played.outcome
    if "error" in expected:
        assert (outcome.message, outcome.answer) == (expected["error"], "")
        assert outcome.status is Status.FAILED
    if "result" in expected:
        assert outcome.answer == expected["result"]
    assert played.is_success == expected.get("success", "error" not in expected)
    return None


def check_approval(case: Case) -> str | None:
    """Let the model use a risky tool, and see who decides."""
    given, expected = case["input"], case["expected"]
    approver = given["approver"]
    asked: list[str] = []

    def ask(risky: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        asked.append(risky.name)
        return ApprovalAnswer(granted=approver is not None and "True" in str(approver))

    risky = _accepting("risky", Safety(given["safety_level"]))
    script = [_step("risky", selector="x"), _step("complete", result="done")]
    played = _play(script, tools=[risky], ask=nobody if approver is None else ask)
    ran = any(isinstance(event, ActionStarted) for event in played.events)
    assert ran == expected["executed"]
    if not ran:
        seen = played.state.turns[0].last_observation
        assert seen is not None
        assert seen.error == "NotApproved"
        assert bool(asked) == (approver is not None)
    return None


def check_planning(case: Case) -> str | None:
    """Plan with a model that cannot, or a plan whose goals cannot be reached."""
    given, expected = str(case["input"]), case["expected"]
    task = case["input"].get("task", "") if isinstance(case["input"], dict) else given
    if "fail" in given and "planner" in given:
        played = _play(
            [{"fail": "busy"}, _step("complete", result="done")], settings={"planning": "always"}
        )
        plan = goal_plan_of(played.state.turns)
        assert plan is not None
        assert plan == fallback_plan(GOAL).settled(plan.goals[0].status, plan.goals[0].outcome)
        (phase,) = expected["phases"]
        assert [phase.name for phase in plan.phases] == [phase["name"]]
        assert [goal.description for goal in plan.goals] == [GOAL] * len(phase["goals"])
        assert plan.source == expected["metadata.source"]
        return None
    if "fail" in given and "goal" in given:
        goals = json.dumps({"phases": [{"name": "p", "goals": ["one", "two"]}]})
        played = _play([goals, _step("fail", reason="X"), "{}"], settings={"planning": "always"})
        assert played.is_success == expected["success"]
        return None
    wanted = expected if isinstance(expected, bool) else next(iter(expected.values()))
    assert needs_plan(task) == wanted
    return None


def check_repair(case: Case) -> str | None:
    """Play a model that never writes what can be read."""
    played = _play([*["{}"] * 3, SUMMARY])
    assert played.purposes().count("repair") == case["expected"]["repair_calls"]
    assert not played.is_success
    assert played.outcome.partial
    seen = played.state.turns[0].last_observation
    assert seen is not None
    assert seen.text.startswith("Response validation failed after 2 repair attempts")
    return None


def check_cancel(case: Case) -> str | None:
    """Stop a run in the middle."""
    control = Control()
    script = [_step("works", at=1), _step("works", at=2)]
    played = _play(script, control=control, stop_at=len(script))
    assert played.outcome.status is Status.STOPPED
    assert bool(played.state.turns) == case["expected"]["steps_so_far_kept"]
    return None


def check_states(case: Case) -> str | None:
    """See that each state has its place in the record of a run."""
    assert sorted(STATES) == sorted(case["expected"])
    return "a run's state is told by its events and its stored status, not by a field of its own"


def _play(
    script: Sequence[str | dict[str, Any]],
    *,
    settings: dict[str, Any] | None = None,
    tools: Sequence[Tool] = (),
    max_turns: int = 50,
    ask: Ask = nobody,
    control: Control | None = None,
    stop_at: int = 0,
) -> _Played:
    control = control or Control()
    said = [{"say": entry} if isinstance(entry, str) else entry for entry in script]
    model = Model(ScriptedProvider(said), control)
    toolkit = Toolkit(tools or (works, other, fails))
    parts = Parts(model, toolkit, Limits(max_turns=max_turns), ask=ask)
    spec = PolicySpec(policy="planned", settings=settings or {})
    played = _Played(State(GOAL), [], [])
    for event in run(build(spec, parts), played.state, control):
        played.events.append(event)
        if stop_at and len(played.purposes()) == stop_at:
            control.stop()
    assert isinstance(played.events[-1], RunEnded)
    return played


def _step(name: str, **parameters: object) -> str:
    return json.dumps({"thought": "t", "action": {"tool": name, "parameters": parameters}})


@tool()
def works(at: int) -> str:
    """Do something."""
    return f"did {at}"


@tool()
def other(at: int) -> str:
    """Do something else."""
    return f"did {at} otherwise"


@tool()
def fails(at: int) -> str:
    """Fail."""
    raise ToolFailed(f"cannot {at}")


def _accepting(name: str, safety: Safety = Safety.SAFE) -> Tool:
    def run_it(selector: str) -> str:
        """Take a selector."""
        return f"took {selector}"

    run_it.__name__ = name
    return tool(safety=safety)(run_it)


AREAS: dict[str, Callable[[Case], str | None]] = {
    "stop rules": check_stop,
    "loop detection": check_loop,
    "completion": check_completion,
    "approval": check_approval,
    "planning": check_planning,
    "repair": check_repair,
    "cancel": check_cancel,
    "execution states": check_states,
}
