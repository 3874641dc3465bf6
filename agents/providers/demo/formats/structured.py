"""Write the demo model's moves as structured replies: a plan of one goal, and steps towards it."""

import json
from typing import Any

from agents.providers.demo.formats.planning import Answer
from agents.providers.demo.formats.steps import Step
from agents.providers.demo.request import Request

NO_OTHER_WAY = '{"goals": []}'
_DESCRIPTION = 200


def goals(request: Request) -> str:
    """Return a plan of one goal: a few rules see no further than that."""
    goal = {
        "description": " ".join(request.goal.split())[:_DESCRIPTION] or "Answer",
        "success_criteria": "the answer rests on what the tools returned",
    }
    return _json({"phases": [{"name": "Answer by rules", "goals": [goal]}]})


def step(move: Step | Answer, request: Request) -> str:
    """Return the next step with its action; the answer is the last one's result."""
    if isinstance(move, Answer):
        return _step(move.thought, "complete", {"result": move.text})
    if move.tool in request.tools:
        return _step(move.thought, move.tool, move.inputs)
    missing = f"This needs the tool `{move.tool}`, which is not offered here. {_ASK_AGAIN}"
    return _step("The tool that I need is not in the list.", "complete", {"result": missing})


def _step(thought: str, tool: str, parameters: dict[str, Any]) -> str:
    action = {"tool": tool, "parameters": parameters}
    return _json({"thought": thought, "action": action, "confidence": 0.9})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_ASK_AGAIN = "Ask again under a policy that has it; I am a rule-based demo and know no other way."
