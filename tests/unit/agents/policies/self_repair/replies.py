"""What a model says under self-repair, and what came of a run of it."""

import json
from typing import Any


def act(name: str | None, **inputs: Any) -> str:
    return f"so\nAction: {json.dumps({'tool': name, 'inputs': inputs, 'final_answer': False})}"


ANSWER = "enough\n<__final_answer__>ok</__final_answer__>"
BROKEN = 'so\nAction: {"tool": "add", "inputs": {"left": two}}'


def asked(call: Any) -> str:
    return str(json.loads(call.request)["messages"][-1]["content"])


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.calls]


def observations(played: Any) -> list[str]:
    return [seen.text for turn in played.state.turns for seen in turn.observations]
