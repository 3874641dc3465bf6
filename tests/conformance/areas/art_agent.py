"""ART's agent as the policy `plan_execute`: what becomes of a run, of a pause, and of a resume."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from agents.act.run_action import next_action
from agents.contracts import Action, Outcome, Status, ToolCall, Turn
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import ActionsProposed, ActionStarted, Event, ModelCalled, Observed, RunEnded
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

FAILED_SYNTHESIS = (
    "a run whose answer never came has failed, whatever its tools did; their results stay in its "
    "turns, and what was said of an answer is kept and marked as partial"
)


class _Played:
    """A run from a script, with the tools that were really run."""

    def __init__(self, script: Sequence[dict[str, Any]], tools: Sequence[Tool]) -> None:
        control = Control()
        self.state = State("Q?")
        model = Model(ScriptedProvider(script), control)
        policy = build(PolicySpec(policy="plan_execute"), Parts(model, Toolkit(tools), Limits()))
        self._events = run(policy, self.state, control)
        self.events: list[Event] = []

    def until(self, ends: Callable[[Event], bool]) -> None:
        for event in self._events:
            self.events.append(event)
            if ends(event):
                break

    @property
    def outcome(self) -> Outcome:
        assert self.state.outcome is not None
        return self.state.outcome

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)


def check_outcome(case: Case) -> str | None:
    """Play the run that the case tells of, and hold its end against what is expected."""
    told = str(case["input"]).lower()
    played, expected = _played(told), case["expected"]
    found = _facts(played)
    status = expected.get("status")
    if status == "partial" and re.search(
        r"synthesis (?:fail|error|stream error|raise|throw)", told
    ):
        assert found["status"] == "error", f"{found['status']} without an answer"
        return FAILED_SYNTHESIS
    for name, value in expected.items():
        match name:
            case "error_contains":
                assert value in played.outcome.message, played.outcome.message
            case "observations_include":
                missing = set(value) - set(_observations(played))
                assert not missing, f"nothing tells of {sorted(missing)}"
            case "returned_message":
                assert played.outcome.message, "the end has no words"
            case _:
                assert name in found, f"No fact of this adapter is named {name}."
                assert found[name] == value, f"{name}: {found[name]!r} is not {value!r}"
    return None


def _played(told: str) -> _Played:
    @tool()
    def act(text: str) -> str:
        """Do what is asked."""
        if re.search(r"tool (?:returns )?(?:an )?(?:error|fail|raise|throw)", told):
            raise ToolFailed("It does not work.")
        return f"did {text}"

    several = re.search(r"(\d+) tool calls", told)
    count = 0 if "no tool call" in told else int(several[1]) if several else 1
    calls = [
        {"callId": str(n), "toolName": "act", "arguments": {"text": "x"}} for n in range(count)
    ]
    plan: dict[str, Any] = {"say": f"Intent: i\nPlan: p\nTool Calls: {json.dumps(calls)}"}
    answer: dict[str, Any] = {"say": "synthesis text"}
    failure = {"fail": "garbled", "message": "The stream broke."}
    if re.search(r"planning (?:\w+ )*(?:error|fail|raise|throw)", told):
        plan = failure
    if re.search(r"synthesis (?:\w+ )*(?:error|fail|raise|throw)", told):
        answer = failure
    played = _Played([plan, answer], [act])
    played.until(lambda _: False)
    return played


def _facts(played: _Played) -> dict[str, Any]:
    outcome, actions = played.outcome, played.count(ActionStarted)
    status = {Status.SUCCEEDED: "success"}.get(outcome.status, "error")
    return {
        "status": "partial" if status == "success" and outcome.partial else status,
        "llmCalls": played.count(ModelCalled),
        "toolCalls": actions,
        "tool_system_called": actions > 0,
        "error": outcome.message or None,
        "response": outcome.answer,
        "message_saved": bool(outcome.answer),
    }


def _observations(played: _Played) -> Sequence[str]:
    """Name what the run tells in ART's words."""
    plans = [turn.thought.plan for turn in played.state.turns if turn.thought is not None]
    named = {
        "INTENT": any(plan and plan["intent"] for plan in plans),
        "PLAN": any(plan and plan["plan"] for plan in plans),
        "THOUGHTS": any(turn.thought and turn.thought.text for turn in played.state.turns),
        "LLM_STREAM_START": played.count(ModelCalled),
        "LLM_STREAM_METADATA": played.count(ModelCalled),
        "LLM_STREAM_END": played.count(ModelCalled),
        "TOOL_CALL": played.count(ActionsProposed),
        "TOOL_EXECUTION": played.count(Observed),
        "SYNTHESIS": played.outcome.answer,
        "FINAL_RESPONSE": played.outcome.answer and played.count(RunEnded),
        "ERROR": played.outcome.status is Status.FAILED,
        "LLM_STREAM_ERROR": played.outcome.status is Status.FAILED,
    }
    return [name for name, is_told in named.items() if is_told]


def check_blocking(case: Case) -> str | None:
    """Leave a run where its blocking tool waits: nothing behind it has been run."""
    names, blocking = case["input"]["calls"], case["input"].get("blockingTool")
    waits = "blockingTool" if blocking == "suspended" else blocking
    ran: list[str] = []
    calls = [{"toolName": name, "arguments": {}} for name in names]
    script = [{"say": f"Tool Calls: {json.dumps(calls)}"}, {"say": "done"}]
    played = _Played(script, [_noting(name, ran) for name in dict.fromkeys(names)])

    def is_waiting(event: Event) -> bool:
        action = played.state.turns[-1].open_action
        call = None if action is None else action.call
        return isinstance(event, ActionStarted) and call is not None and call.tool == waits

    played.until(is_waiting)
    results = [_result(action) for turn in played.state.turns for action in turn.actions]
    for name, value in case["expected"].items():
        if name == "results":
            found = [{key: result[key] for key in value[0]} for result in results]
            assert found == value, f"{found} is not {value}"
        else:
            was_run = name.removesuffix("_executed") in ran
            assert was_run is value, f"{ran} were run"
    return None


def check_resume(case: Case) -> str | None:
    """Go on with a run that waits for nothing: it is refused, and no tool is run."""
    told = str(case["input"])
    assert re.search(r"not paused|not suspended|no suspen", told), "No scenario is told so."
    ran: list[str] = []
    kit = Toolkit([_noting("act", ran)])
    try:
        list(next_action(State("Q?", turns=[Turn(index=0)]), kit, Control()))
        refused = False
    except ValueError:
        refused = True
    assert (refused, ran) == (bool(case["expected"]["error"]), []), f"refused: {refused}, {ran}"
    return None


def _noting(name: str, ran: list[str]) -> Tool:
    def act() -> str:
        """Do what is asked."""
        ran.append(name)
        return "done"

    act.__name__ = name
    return tool()(act)


def _result(action: Action) -> dict[str, Any]:
    call = action.call or ToolCall(tool="", inputs={})
    if action.observation is None:
        return {"toolName": call.tool, "status": "suspended"}
    return {"toolName": call.tool, "status": "error" if action.has_failed else "success"}


AREAS: dict[str, Callable[[Case], str | None]] = {
    "PESAgent outcome": check_outcome,
    "v0.4 blocking tool": check_blocking,
    "v0.4 resume": check_resume,
}
