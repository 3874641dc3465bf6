"""How a model tells one and the same story under each policy: so many calls, then the answer."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One action of a story: the thought before it, and the call."""

    thought: str
    tool: str = ""
    token: str = ""

    @property
    def inputs(self) -> dict[str, str]:
        """Return what the tool is called with."""
        return {"token": self.token}


Texts = list[str]
Tell = Callable[[Sequence[Step], str, str], Texts]
"""Makes a script of the steps, what is thought before the end, and the answer."""


def explicit(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Write labels, as the paper of ReAct does."""
    said = [
        f"Thought: {step.thought}\nAction: {step.tool}\nAction Input: {json.dumps(step.inputs)}"
        for step in steps
    ]
    return [*said, f"Thought: {last}\nFinal Answer: {answer}"]


def implicit(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Say in words what to do; then choose the tool, then fill in its inputs."""
    said: Texts = []
    for step in steps:
        said += [_node("ACTION", step.thought), step.tool, json.dumps(step.inputs)]
    return [*said, _node("FINAL", answer)]


def self_repair(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Think aloud, then write one action as JSON; the answer is a call of its own."""
    said = [f"{step.thought}\nAction: {_call('tool', 'inputs', step)}" for step in steps]
    return [*said, last, answer]


def together(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Ask for all calls in one reply, as models do that call tools in parallel."""
    calls = [f"<tool_call>{_call('name', 'arguments', step)}</tool_call>" for step in steps]
    thoughts = " ".join(step.thought for step in steps)
    return ["\n".join([thoughts, *calls]), last, answer]


def planned(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Plan one goal, take structured steps, and complete it."""
    goal = {"description": last, "success_criteria": "it is told"}
    plan = {"phases": [{"name": "telling", "goals": [goal]}]}
    said = [
        json.dumps(
            {"thought": step.thought, "action": {"tool": step.tool, "parameters": step.inputs}}
        )
        for step in steps
    ]
    complete = {"tool": "complete", "parameters": {"result": answer}}
    return [json.dumps(plan), *said, json.dumps({"thought": last, "action": complete})]


def plan_execute(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Write all calls at once, then the answer."""
    calls = [
        {"callId": str(number), "toolName": step.tool, "arguments": step.inputs}
        for number, step in enumerate(steps)
    ]
    return [f"Intent: {last}\nPlan: {last}\nTool Calls: {json.dumps(calls)}", answer]


def rewoo(steps: Sequence[Step], last: str, answer: str) -> Texts:
    """Plan all steps with names for their results, then the answer."""
    planned = [
        f"Plan: {step.thought}\n#E{number} = {step.tool}[{json.dumps(step.inputs)}]"
        for number, step in enumerate(steps, 1)
    ]
    return ["\n".join(planned), answer]


SCRIPTS: dict[str, Tell] = {
    "explicit": explicit,
    "implicit": implicit,
    "plan_execute": plan_execute,
    "planned": planned,
    "reflexion": explicit,
    "rewoo": rewoo,
    "self_repair": self_repair,
}
SETTINGS: dict[str, dict[str, Any]] = {"planned": {"planning": "always"}}
"""Settings with which a policy asks for what its script says, by policy."""


def _node(kind: str, text: str) -> str:
    return json.dumps({"kind": kind, "text": text})


def _call(tool: str, inputs: str, step: Step) -> str:
    return json.dumps({tool: step.tool, inputs: step.inputs})
