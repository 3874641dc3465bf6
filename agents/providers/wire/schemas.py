"""A JSON Schema in the part of the language that Gemini knows (its `Schema`, of OpenAPI 3.0)."""

from collections.abc import Mapping
from typing import Any

MOST = 2_000
"""The parts of one schema that are written; a reference to itself would have no end."""
DEEPEST = 16
_KEPT = frozenset(
    {
        "description",
        "enum",
        "maxItems",
        "maximum",
        "maxLength",
        "minItems",
        "minimum",
        "minLength",
        "nullable",
        "required",
        "title",
        "type",
    }
)


def simplified(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with its references put in place, and without what Gemini refuses.

    What lies too deep, as where a schema refers to itself, may be anything.
    """
    return _Simplified(schema).part(schema, 0)


class _Simplified:
    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._left = MOST

    def part(self, part: Any, depth: int) -> dict[str, Any]:
        part = self._referred(part)
        self._left -= 1
        if depth > DEEPEST or self._left < 0 or not isinstance(part, Mapping):
            return {}
        kept = _values({name: part[name] for name in part if name in _KEPT}, part)
        if isinstance(fields := part.get("properties"), Mapping):
            kept["properties"] = {name: self.part(fields[name], depth + 1) for name in fields}
        if "items" in part:
            kept["items"] = self.part(part["items"], depth + 1)
        options = part.get("anyOf") or part.get("oneOf")
        return kept | self._options(options, depth) if isinstance(options, list) else kept

    def _options(self, options: list[Any], depth: int) -> dict[str, Any]:
        """Write alternatives; `null` among them is a mark here and no type."""
        others = [self.part(one, depth + 1) for one in options if one != {"type": "null"}]
        nullable = {"nullable": True} if len(others) < len(options) else {}
        return (others[0] if len(others) == 1 else {"anyOf": others}) | nullable

    def _referred(self, part: Any) -> Any:
        """Follow references within the schema."""
        for _ in range(DEEPEST):
            reference = part.get("$ref") if isinstance(part, Mapping) else None
            if not isinstance(reference, str):
                return part
            part = self._whole
            for name in reference.removeprefix("#/").split("/"):
                part = part.get(name) if isinstance(part, Mapping) else None
        return {}


def _values(kept: dict[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Write types of which null is one, and closed sets of values, as texts alone are one here."""
    if isinstance(kinds := kept.get("type"), list):
        known = [kind for kind in kinds if kind != "null"]
        kept |= {"type": known[0] if known else "string"}
        kept |= {"nullable": True} if len(known) < len(kinds) else {}
    values = [part["const"]] if "const" in part else kept.get("enum")
    if isinstance(values, list):
        kept |= {"enum": [str(value) for value in values], "type": "string"}
    return kept
