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
