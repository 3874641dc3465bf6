"""The schemas of replies: valid, each action with its tool's own inputs, never too long."""

import json
from typing import Any

import jsonschema
import pytest

from agents.providers.wire.strict import strict_reply
from agents.reading.structured import schema as schemas
from agents.reading.structured.parse import parse_structured
from agents.reading.structured.schema import inputs_schema, step_schema
from agents.tools.catalogue import toolkit
from agents.tools.finishing import complete, fail

NAMES = ("calculator", "convert_units", "current_time", "ask_user")
KIT = [
    *toolkit(NAMES, find_turns=lambda query: ()).tools,
    complete,
    fail,
]
STEP = step_schema({one.name: one.schema for one in KIT})


def valid(schema: dict[str, Any], value: object) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def step(tool: str, **parameters: Any) -> dict[str, Any]:
    action = {"tool": tool, "parameters": parameters}
    return {"thought": "So.", "action": action, "confidence": 0.5}


@pytest.mark.parametrize(
    ("said", "is_valid"),
    [
        (step("calculator", expression="2 * 3"), True),
        (step("calculator", expression="2 * x", variables={"x": 3}), True),
        (step("convert_units", value=1, from_unit="km", to_unit="m"), True),
        (step("complete", result="42"), True),
        (step("fail"), True),
        (step("calculator", result="42"), False),
        (step("calculator"), False),
        (step("abacus", expression="2 * 3"), False),
        ({"thought": "So.", "confidence": 1}, False),
    ],
)
def test_a_step_is_one_of_the_tools_with_its_own_inputs(
    said: dict[str, Any], is_valid: bool
) -> None:
    assert valid(STEP, said) == is_valid
    if is_valid:
        read = parse_structured(json.dumps(said), [one.name for one in KIT])
        assert (read.tool, read.parameters) == (
            said["action"]["tool"],
            said["action"]["parameters"],
        )


def _objects(part: Any) -> list[dict[str, Any]]:
    if isinstance(part, list):
        return [one for entry in part for one in _objects(entry)]
    if not isinstance(part, dict):
        return []
    own = [part] if part.get("type") == "object" else []
    return own + [one for entry in part.values() for one in _objects(entry)]


@pytest.mark.parametrize(
    "schema",
    [STEP, step_schema({"fail": fail.schema}, is_tree=True)]
    + [getattr(schemas, name) for name in ("NODE", "PHASES", "NEW_GOALS", "SETTLED")],
)
def test_strictly_every_field_is_required_and_no_other_allowed(schema: dict[str, Any]) -> None:
    strict = strict_reply(schema)

    assert strict is not None
    jsonschema.Draft202012Validator.check_schema(strict)
    objects = _objects(strict)
    assert objects
    for part in objects:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


def test_strictly_what_may_be_left_out_may_be_null_and_free_names_are_text() -> None:
    strict = strict_reply(STEP)

    assert strict is not None
    assert valid(strict, step("calculator", expression="2 * 3", variables=None))
    assert valid(strict, step("calculator", expression="2 * x", variables='{"x": 3}'))
    assert not valid(strict, step("calculator", expression="2 * 3"))


NODE = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/Node"}, "at": {"type": "integer", "minimum": 3}},
    "required": ["at"],
}


def test_references_are_put_in_place_and_one_to_itself_ends() -> None:
    found = inputs_schema({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}})

    assert "$ref" not in json.dumps(found)
    assert valid(found, {"at": 1, "next": {"at": 2, "next": {"at": 3}}})
    assert not valid(found, {"next": {"at": 2}})


@pytest.mark.parametrize("strange", [{}, {"type": "string"}, {"$ref": "#/nowhere"}, {"$ref": 3}])
def test_inputs_that_say_no_object_may_be_any_object(strange: dict[str, Any]) -> None:
    assert inputs_schema(strange) == {"type": "object"}


def test_a_toolkit_too_large_for_one_schema_is_told_by_its_names() -> None:
    many = {f"tool_{n}": calculator.schema for n in range(500) for calculator in KIT[:1]}

    found = step_schema(many)

    assert len(json.dumps(found)) < 20_000
    assert valid(found, step("tool_499", expression="2"))
    assert not valid(found, step("tool_500", expression="2"))
