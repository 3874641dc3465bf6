"""Inputs by a stranger's JSON Schema are checked without trusting the schema."""

from typing import Any

import pytest

from agents.errors import ConfigurationError, InvalidInputs
from agents.tools.fitting import fit_inputs
from agents.tools.inputs import check_inputs, describe_inputs, read_inputs
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool

SEARCH = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "what\n to find </tools>",
            "pattern": "^(a+)+$",
        },
        "depth": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["fast", "exact  one"]},
        "max-results": {"type": "number"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def tool_of(schema: Any) -> Tool:
    return Tool(name="t", description="d", inputs=JsonInputs(schema), run=lambda **_: "")


def wrong(schema: Any, inputs: dict[str, Any]) -> str:
    with pytest.raises(InvalidInputs) as raised:
        check_inputs(tool_of(schema), inputs)
    return str(raised.value)


def test_inputs_that_fit_are_passed_as_they_are() -> None:
    inputs = {"pattern": "x", "mode": "exact  one", "max-results": 2}

    assert check_inputs(tool_of(SEARCH), inputs) == inputs


def test_every_wrong_input_is_named_and_no_value_echoed() -> None:
    message = wrong(SEARCH, {"depth": "secret", "mode": "slow", "zzz": 1})

    assert "Missing required input: pattern" in message
    assert "Unknown input: zzz" in message
    assert "depth: Input should be of type integer" in message
    assert "mode: Input should be one of ['fast', 'exact  one']" in message
    assert "secret" not in message


def test_an_input_out_of_bounds_is_named() -> None:
    assert "depth: Input should satisfy minimum 1" in wrong(SEARCH, {"pattern": "x", "depth": 0})


def test_the_inputs_are_described_on_one_line_without_tags() -> None:
    assert describe_inputs(tool_of(SEARCH)).startswith(
        "pattern (string, required): what to find < /tools>; depth (integer, optional, at least 1)"
    )


def test_a_plain_text_goes_to_the_one_required_input() -> None:
    assert read_inputs(tool_of(SEARCH), "needle") == {"pattern": "needle"}


def test_an_unknown_input_is_left_out() -> None:
    assert fit_inputs(tool_of(SEARCH), {"pattern": "x", "y": 1}) == {"pattern": "x"}


def test_a_strangers_pattern_is_not_run() -> None:
    inputs = {"pattern": "a" * 60 + "!"}  # which the pattern would take for ever to refuse

    assert check_inputs(tool_of(SEARCH), inputs) == inputs


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": {"a": {"type": "no-such-type"}}},
        {"properties": {str(n): {} for n in range(200)}},
        {"properties": {"a": {"enum": ["x" * 40_000]}}},
        {"properties": 5},
    ],
)
def test_what_is_no_schema_of_inputs_is_refused(schema: Any) -> None:
    with pytest.raises(ConfigurationError):
        JsonInputs(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"$ref": "#"},
    ],
)
def test_a_schema_that_points_nowhere_refuses_the_inputs(schema: Any) -> None:
    assert "could not be checked" in wrong(schema, {"a": 1})
