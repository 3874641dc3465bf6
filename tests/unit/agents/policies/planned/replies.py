"""What a model says under the policy planned, and what came of a run of it."""

import json
from typing import Any


def goals(*descriptions: str) -> str:
    told = [{"description": text, "success_criteria": "seen"} for text in descriptions]
    return json.dumps({"phases": [{"name": "p", "goals": told}]})


def step(name: str, **parameters: Any) -> str:
    return json.dumps({"thought": "t", "action": {"tool": name, "parameters": parameters}})


DONE = step("complete", result="all")
SUMMARY = "as far as I came"


def asked(played: Any, number: int) -> str:
    messages = json.loads(played.calls[number].request)["messages"]
    return "\n".join(message["content"] for message in messages)


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.calls]


def observations(played: Any) -> list[Any]:
    return [seen for turn in played.state.turns for seen in turn.observations]
