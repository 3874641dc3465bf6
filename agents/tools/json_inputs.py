"""Inputs that a stranger's JSON Schema describes, checked without trusting the schema either."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from referencing import Registry

from agents.errors import ConfigurationError

_MAX_INPUTS = 100
_SIZE = 30_000
_DEPTH = 16
_TEXT = 400
_PATTERNS = frozenset({"pattern", "patternProperties", "format"})
"""Keywords whose patterns a stranger wrote: one that backtracks for ever would hold the run."""

_TEXTS = frozenset({"description", "title", "$comment"})
_NAMED = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_MAX_COMPLAINTS = 8


class JsonInputs:
    """The inputs of a tool from elsewhere, by its JSON Schema.

    The schema is shown with its texts cut to a readable length. Nothing that it points to outside
    of itself is fetched, and its patterns are left to the server. Raises ConfigurationError for
    what is no schema of named inputs.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        tamed = _tamed(schema, 0)
        if len(json.dumps(tamed, default=str)) > _SIZE:
            raise ConfigurationError("Its inputs have too long a description.")
        if not isinstance(tamed, dict) or tamed.get("type", "object") != "object":
            raise ConfigurationError("Its inputs are not an object.")
        properties = tamed.setdefault("properties", {})
        if not isinstance(properties, dict) or len(properties) > _MAX_INPUTS:
            raise ConfigurationError("Its inputs cannot be listed.")
        tamed["properties"] = {
            name: field if isinstance(field, dict) else {} for name, field in properties.items()
        }
        try:
            jsonschema.Draft202012Validator.check_schema(tamed)
        except (jsonschema.SchemaError, RecursionError):
            raise ConfigurationError("Its inputs have no valid JSON Schema.") from None
        self.schema: dict[str, Any] = tamed
        self._validator = jsonschema.Draft202012Validator(tamed, registry=Registry())

    def complaints(self, inputs: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with these inputs, in words for the model."""
        missing = [name for name in self.schema.get("required", ()) if name not in inputs]
        for name in missing[:_MAX_COMPLAINTS]:
            yield f"Missing required input: {name}"
        if self.schema.get("additionalProperties") is False:
            for name in [name for name in inputs if name not in self.schema["properties"]][:8]:
                yield f"Unknown input: {name[:100]}"
        try:
            yield from self._wrong(inputs)
        except Exception:  # whatever a stranger's schema makes of the checker
            yield "They could not be checked against the tool's schema"

    def _wrong(self, inputs: Mapping[str, Any]) -> Iterator[str]:
        told = 0
        for error in self._validator.iter_errors(dict(inputs)):
            is_told = error.validator in ("required", "additionalProperties") and not error.path
            if is_told or told == _MAX_COMPLAINTS:
                continue
            told += 1
            where = ".".join(str(part) for part in error.path)[:100] or "inputs"
            yield f"{where}: {_reason(error)}"


def _reason(error: jsonschema.ValidationError) -> str:
    """Say what was expected; the value itself is not echoed, it may be long or secret."""
    expected = str(error.validator_value)[:200]
    match error.validator:
        case "type":
            return f"Input should be of type {expected}"
        case "enum":
            return f"Input should be one of {expected}"
        case "required":
            return f"Input should have {expected}"
    return f"Input should satisfy {error.validator} {expected}"


def _tamed(part: Any, depth: int, *, is_named: bool = False) -> Any:
    """Return a schema of bounded depth, with short texts and without patterns.

    `is_named` tells a mapping of names, in which `pattern` is a name, from one of keywords.
    """
    if depth > _DEPTH:
        return {}
    if isinstance(part, list):
        return [_tamed(entry, depth + 1) for entry in part]
    if not isinstance(part, Mapping):
        return part
    kept: dict[str, Any] = {}
    for key, value in part.items():
        if is_named:
            kept[key] = _tamed(value, depth + 1)
        elif key in _TEXTS:
            kept[key] = readable(str(value), _TEXT)
        elif key not in _PATTERNS:
            kept[key] = _tamed(value, depth + 1, is_named=key in _NAMED)
    return kept


def readable(text: str, most: int) -> str:
    """Return a stranger's text on one line, printable, without tags, cut to `most` characters."""
    line = " ".join(text[: most * 4].split()).replace("</", "< /")
    line = "".join(character for character in line if character.isprintable())
    return line if len(line) <= most else line[: most - 1] + "…"
