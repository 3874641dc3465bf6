"""A JSON Schema in the part of the language that OpenAI keeps a model's calls to, word for word."""

from collections.abc import Mapping
from typing import Any

_KNOWN = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
)
_LEFT_OUT = frozenset({"title", "examples"})
"""What says nothing of which values are right."""


def strictly(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema as it can be kept to, None where it cannot: nothing is made stricter.

    All inputs must be required, no others allowed, and nothing said that the server does not know,
    a default or a reference among it.
    """
    kept = {name: part for name, part in schema.items() if name not in _LEFT_OUT}
    if not kept.keys() <= _KNOWN or not isinstance(kept.get("type"), str):
        return None
    if kept["type"] == "object":
        return _object(kept)
    if kept["type"] != "array":
        return kept
    items = kept.get("items")
    whole = strictly(items) if isinstance(items, Mapping) else None
    return None if whole is None else kept | {"items": whole}


def _object(schema: dict[str, Any]) -> dict[str, Any] | None:
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or schema.get("additionalProperties") is not False:
        return None
    if set(schema.get("required", ())) != fields.keys():
        return None
    parts = {name: strictly(part) for name, part in fields.items() if isinstance(part, Mapping)}
    if len(parts) < len(fields) or None in parts.values():
        return None
    return schema | {"properties": parts, "required": list(fields)}


def strict_reply(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema of a reply as it can be kept to, None where it cannot.

    Here it is made stricter where nothing is lost: a field that may be left out may be null, an
    object of free names, or a list of anything, is a text of JSON. Readers take all of these.
    """
    return _strict_part(schema)


def _strict_part(part: Mapping[str, Any]) -> dict[str, Any] | None:
    if isinstance(options := part.get("anyOf"), list):
        found = [_strict_part(one) for one in options]
        is_plain = not part.keys() - {"anyOf"} and None not in found
        return {"anyOf": found} if is_plain else None
    kind = part.get("type")
    if isinstance(kind, list):
        return {"type": kind} if not {"object", "array"} & {*kind} else None
    values = [part["const"]] if "const" in part else part.get("enum")
    if isinstance(values, list):
        are_texts = all(isinstance(value, str) for value in values)
        return {"type": "string", "enum": values} if are_texts else None
    if kind == "object":
        return _strict_object(part)
    if kind == "array" and part.get("items"):
        items = _strict_part(part["items"])
        return None if items is None else {"type": "array", "items": items}
    if kind == "array":
        return {"type": "string", "description": "A list, as JSON."}
    return {"type": kind} if isinstance(kind, str) else None


def _strict_object(part: Mapping[str, Any]) -> dict[str, Any] | None:
    fields = part.get("properties") or {}
    if part.get("additionalProperties", not fields):
        return None if fields else {"type": "string", "description": "An object, as JSON."}
    parts = {name: _strict_part(field) for name, field in fields.items()}
    needed = part.get("required", ())
    whole = {
        name: found if name in needed else _or_null(found)
        for name, found in parts.items()
        if found is not None
    }
    if len(whole) < len(fields):
        return None
    return {
        "type": "object",
        "properties": whole,
        "required": list(whole),
        "additionalProperties": False,
    }


def _or_null(part: dict[str, Any]) -> dict[str, Any]:
    """Return what may be null besides."""
    options = part.get("anyOf", [part])
    null = {"type": "null"}
    return {"anyOf": options if null in options else [*options, null]}
