"""What a model says under every policy that reads ten long pages and then answers."""

import json
from typing import Any

from tests.unit.agents.policies.contract.scripts import node, step

PAGES = range(1, 11)
ANSWER = "All ten pages were read."

Entry = str | dict[str, Any]


def labelled(number: int) -> str:
    return f'go on\nAction: page\nAction Input: {{"number": {number}}}'


def named(number: int) -> str:
    return f'go on\nAction: {{"tool": "page", "inputs": {{"number": {number}}}}}'


def planned_calls() -> str:
    calls = [{"toolName": "page", "arguments": {"number": number}} for number in PAGES]
    return f"Intent: read\nTool Calls: {json.dumps(calls)}"


def planned_steps() -> str:
    steps = (f'Plan: read\n#E{number} = page[{{"number": {number}}}]' for number in PAGES)
    return "\n".join(steps)


def nodes() -> list[Entry]:
    said: list[Entry] = []
    for number in PAGES:
        said += [node("ACTION", f"read page {number}"), "page", json.dumps({"number": number})]
    return [*said, node("FINAL", ANSWER)]


SCRIPTS: dict[str, list[Entry]] = {
    "explicit": [*map(labelled, PAGES), f"enough\nFinal Answer: {ANSWER}"],
    "implicit": nodes(),
    "native": [*({"tool": "page", "inputs": {"number": number}} for number in PAGES), ANSWER],
    "plan_execute": [planned_calls(), ANSWER],
    "planned": [*(step("page", number=n) for n in PAGES), step("complete", result=ANSWER)],
    "reflexion": [*map(labelled, PAGES), f"enough\nFinal Answer: {ANSWER}"],
    "rewoo": [planned_steps(), ANSWER],
    "self_repair": [*map(named, PAGES), f"enough\nFinal Answer: {ANSWER}"],
}
SETTINGS: dict[str, dict[str, Any]] = {
    "planned": {"planning": "never", "max_same_tool": 20},
    "reflexion": {"turns_per_try": 20},
}
