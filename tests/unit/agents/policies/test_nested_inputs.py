"""Inputs that are nested without end are refused in words, and can be stored as they are."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.nesting import DEEPEST, is_too_deep
from agents.policies import POLICIES
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from chat.runs.stored_json import storable_json

ANYTHING = {"type": "object", "properties": {"value": {}}, "required": ["value"]}
KEEP = Tool(
    name="keep", description="Keep a value.", inputs=JsonInputs(ANYTHING), run=lambda **_: "kept"
)
PLAN = json.dumps(
    {"phases": [{"name": "p", "goals": [{"description": "g", "success_criteria": "s"}]}]}
)


def nested(levels: int) -> str:
    """Write inputs of so many levels, the innermost not empty."""
    inner = levels - 1
    return f'{{"value": {"[" * inner}1{"]" * inner}}}'


def saying(policy: str, inputs: str) -> list[str]:
    """Return what a model says that calls the tool with these inputs."""
    match policy:
        case "explicit" | "reflexion":
            return [f"t\nAction: keep\nAction Input: {inputs}"]
        case "implicit":
            return [json.dumps({"kind": "ACTION", "text": "keep it"}), "keep", *[inputs] * 3]
        case "self_repair":
            return [f't\nAction: {{"tool": "keep", "inputs": {inputs}}}']
        case "plan_execute":
            return [f'Tool Calls: [{{"toolName": "keep", "arguments": {inputs}}}]']
        case "rewoo":
            return [f"Plan: p\n#E1 = keep[{inputs}]"]
        case _:
            action = f'{{"tool": "keep", "parameters": {inputs}}}'
            return [PLAN, *[f'{{"thought": "t", "action": {action}}}'] * 3]


@pytest.mark.parametrize("levels", [200, 400, 900, 960, 3_000])
@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_nested_too_deep_is_refused_and_all_of_it_can_be_stored(
    stage: Callable[[str], Any], policy: str, levels: int
) -> None:
    said = [*saying(policy, nested(levels)), *["Final Answer: none"] * 6]

    played = stage(policy).play(said, tools=[KEEP], max_turns=3)

    seen = [seen for turn in played.state.turns for seen in turn.observations]
    assert played.outcome.reason != "internal"
    assert "kept" not in [observation.text for observation in seen]
    for turn in played.state.turns:
        storable_json([call.inputs for call in turn.calls])
        storable_json(None if turn.thought is None else turn.thought.plan)


@pytest.mark.parametrize("policy", ["explicit", "implicit", "plan_execute", "reflexion", "rewoo"])
def test_the_model_is_told_what_is_wrong(stage: Callable[[str], Any], policy: str) -> None:
    said = [*saying(policy, nested(900)), *["Final Answer: none"] * 6]

    played = stage(policy).play(said, tools=[KEEP], max_turns=3)

    told = [seen.text for turn in played.state.turns for seen in turn.observations]
    assert any(f"nested more than {DEEPEST} levels deep" in text for text in told)


@pytest.mark.parametrize("policy", ["explicit", "plan_execute", "rewoo", "self_repair"])
def test_what_is_as_deep_as_may_be_is_taken(stage: Callable[[str], Any], policy: str) -> None:
    deep = nested(DEEPEST - 1)
    said = [*saying(policy, deep), *["Final Answer: none"] * 6]

    played = stage(policy).play(said, tools=[KEEP], max_turns=3)

    assert played.state.turns[0].actions[0].observation.text == "kept"
    assert played.state.turns[0].actions[0].call.inputs == json.loads(deep)


@pytest.mark.parametrize(
    ("value", "is_so"),
    [
        *((1, False), ({}, False), ([], False)),
        *((json.loads(nested(DEEPEST)), False), (json.loads(nested(DEEPEST + 1)), True)),
        ([[]] * 10_000, False),
    ],
)
def test_levels_are_counted(value: Any, is_so: bool) -> None:
    assert is_too_deep(value) is is_so
