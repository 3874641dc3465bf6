"""What a tool takes, told to a model in a prompt: plain inputs in words, nested ones by schema."""

import json
from collections.abc import Mapping
from typing import Any

_DEPTH = 8
_LONGEST = 6_000
"""Characters of one input's schema; a longer one is told with less of its depth."""

_LEFT_OUT = frozenset({"title", "$defs", "definitions", "$schema", "$id", "$comment"})
_HOLDING = frozenset(
    {"items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems", "not"}
)
"""Keywords whose values are schemas."""

_RANGES = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}


def told(schema: Mapping[str, Any]) -> str:
    """Return the inputs of a schema in one line: name, type, whether required, and what it is for.

    An input of plain values is told in words with its range and default, any other with its JSON
    Schema, in which nothing points elsewhere.
    """
    required = schema.get("required", ())
    inputs = []
    for name, field in schema.get("properties", {}).items():
        need = "required" if name in required else "optional"
        purpose = f": {field['description']}" if field.get("description") else ""
        inputs.append(f"{name} ({_told(field, schema, need)}){purpose}")
    return "; ".join(inputs) or "none"


def _told(field: Mapping[str, Any], schema: Mapping[str, Any], need: str) -> str:
    whole = resolved(field, schema)
    words = ", ".join([_type(whole), need, *_bounds(whole)])
    if not _is_nested(whole):
        return words
    return f"{words}, JSON Schema {_written(field, schema)}"


def resolved(part: Any, schema: Mapping[str, Any], depth: int = _DEPTH) -> Any:
    """Return a part of a schema with what it points to in its place, `depth` levels of it."""
    if isinstance(part, list):
        return [resolved(one, schema, depth) for one in part]
    if not isinstance(part, Mapping):
        return part
    target = _target(part, schema)
    if target is None:
        return _whole(part, schema, depth)
    if depth <= 0:
        return {"type": target["type"]} if isinstance(target.get("type"), str) else {}
    beside = {name: value for name, value in part.items() if name != "$ref"}
    return resolved({**target, **beside}, schema, depth - 1)


def _whole(part: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth <= 0:
        return {name: part[name] for name in ("type", "description", "enum") if name in part}
    whole: dict[str, Any] = {}
    for name, value in part.items():
        if name == "properties" and isinstance(value, Mapping):
            whole[name] = {one: resolved(field, schema, depth - 1) for one, field in value.items()}
        elif name in _HOLDING:
            whole[name] = resolved(value, schema, depth - 1)
        elif name not in _LEFT_OUT:
            whole[name] = value
    return whole


def _target(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the part points to within its schema, None where it does not."""
    path = part.get("$ref")
    if not isinstance(path, str) or not path.startswith("#/"):
        return None
    found: Any = schema
    for step in path[2:].split("/"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _is_nested(field: Mapping[str, Any]) -> bool:
    """Tell an input that holds objects with fields of their own."""
    if isinstance(field.get("properties"), Mapping) and field["properties"]:
        return True
    return any(_is_nested(part) for part in _parts(field))


def _parts(field: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts: list[Any] = [field.get("items"), field.get("additionalProperties")]
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        parts += field[name] if isinstance(field.get(name), list) else []
    return [part for part in parts if isinstance(part, Mapping)]


def _written(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the field's schema as JSON, less deep where that is too long."""
    for depth in range(_DEPTH, 0, -1):
        whole = resolved(field, schema, depth)
        whole.pop("description", None)
        text = json.dumps(whole, ensure_ascii=False)
        if len(text) <= _LONGEST:
            return text
    return json.dumps({"type": whole.get("type", "object")})


def _bounds(field: Mapping[str, Any]) -> list[str]:
    """Return the range and the default of a plain input, in words."""
    said = [f"{words} {field[name]}" for name, words in _RANGES.items() if name in field]
    for part in _parts(field) if "anyOf" in field else ():
        said += _bounds(part)
    if field.get("default") is not None:
        said.append(f"default {json.dumps(field['default'], ensure_ascii=False)[:200]}")
    return said


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(map(str, field["enum"]))
    if "const" in field:
        return f"always {field['const']}"
    options = next((field[name] for name in ("anyOf", "oneOf") if name in field), None)
    if isinstance(options, list):
        kinds = dict.fromkeys(_type(one) for one in options if isinstance(one, Mapping))
        return " or ".join(kind for kind in kinds if kind != "null") or "any"
    kind = field.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(str(one) for one in kind if one != "null")
    inner = field.get("items" if kind == "array" else "additionalProperties")
    return f"{kind} of {_type(inner)}" if isinstance(inner, Mapping) and inner else str(kind)
