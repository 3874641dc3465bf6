"""Only a schema that can be kept to as it stands is asked to be kept to."""

import json
from typing import Any

import pytest
from pydantic import SecretStr

from agents.contracts import Purpose
from agents.providers.base import ModelRequest, ToolSchema
from agents.providers.choice import Credentials
from agents.providers.openai import OpenAIProvider
from agents.providers.wire.strict import strictly

TEXT = {"type": "string", "description": "a text"}


def schema(**more: Any) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
    return whole | {"additionalProperties": False} | more


@pytest.mark.parametrize(
    "kept",
    [
        schema(),
        schema(properties={}, required=[]),
        schema(properties={"a": {"type": "array", "items": TEXT}}),
        schema(properties={"a": schema()}),
    ],
)
def test_a_schema_that_can_be_kept_to_stays_as_it_is(kept: dict[str, Any]) -> None:
    assert strictly(kept) == kept


def test_titles_are_left_out() -> None:
    assert strictly(schema(title="look", properties={"a": TEXT | {"title": "A"}})) == schema()


@pytest.mark.parametrize(
    "loose",
    [
        schema(required=[]),
        schema(additionalProperties=True),
        schema(properties={"a": TEXT | {"default": "x"}}),
        schema(properties={"a": {"anyOf": [TEXT, {"type": "null"}]}}),
        schema(properties={"a": {"$ref": "#/$defs/A"}}),
        schema(properties={"a": {"type": ["string", "null"]}}),
        schema(properties={"a": {"type": "array"}}),
        schema(properties={"a": {"type": "object"}}),
    ],
)
def test_one_that_would_have_to_be_made_stricter_is_not_kept_to(loose: dict[str, Any]) -> None:
    assert strictly(loose) is None


TOOLS = [
    ToolSchema(name="look", description="Look.", inputs=schema(), strict=True),
    ToolSchema(name="find", description="Find.", inputs=schema(required=[]), strict=True),
    ToolSchema(name="rest", description="Rest.", inputs=schema()),
]
REQUEST = ModelRequest(purpose=Purpose.THINK, messages=(), tools=TOOLS)


def provider() -> OpenAIProvider:
    address, key = "http://127.0.0.1:1/strict", SecretStr("none")
    return OpenAIProvider(Credentials(base_url=address, api_key=key, model="m", found="a test"))


def strict(posted: dict[str, Any]) -> list[bool | None]:
    return [tool["function"].get("strict") for tool in posted["tools"]]


def test_strict_is_asked_for_where_the_schema_allows_it() -> None:
    assert strict(json.loads(provider().body(REQUEST))) == [True, None, None]


def test_a_server_that_refuses_strict_is_asked_without_it() -> None:
    asked = provider()
    posted = json.loads(asked.body(REQUEST))
    said = '{"error": {"message": "Extra inputs are not permitted: tools.0.function.strict"}}'

    assert asked.refused(400, said, posted) == "strict"
    without = asked.without(posted, "strict")
    assert strict(without) == [None, None, None]
    assert asked.refused(400, said, without) is None
