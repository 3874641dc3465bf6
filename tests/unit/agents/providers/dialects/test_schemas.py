"""A schema of the reply or of a tool's inputs, in the part of the language that a server knows."""

from collections.abc import Iterator
from typing import Any

from agents.providers.wire.schemas import MOST, simplified


def test_a_schema_for_gemini_has_its_references_in_place_and_nothing_it_refuses() -> None:
    schema = {
        "$defs": {"plum": {"type": "object", "properties": {"ripe": {"const": True}}}},
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "one": {"$ref": "#/$defs/plum"},
            "kind": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "grams": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "lost": {"$ref": "#/$defs/pear"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/plum"}},
        },
    }
    plum = {"type": "object", "properties": {"ripe": {"enum": ["True"], "type": "string"}}}

    assert simplified(schema) == {
        "type": "object",
        "properties": {
            "one": plum,
            "kind": {"type": "string", "nullable": True},
            "grams": {"type": "number", "nullable": True},
            "lost": {},
            "all": {"type": "array", "items": plum},
        },
    }


def count(schema: Any) -> int:
    return 1 + sum(map(count, _inner(schema)))


def _inner(schema: Any) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    if "items" in schema:
        yield schema["items"]


def test_a_schema_that_refers_to_itself_has_an_end() -> None:
    fields = {name: {"$ref": "#"} for name in "abcdef"}

    assert count(simplified({"type": "object", "properties": fields})) < MOST * 7
