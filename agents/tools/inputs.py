"""A tool's inputs: told to the model, read out of its text, and checked before the tool runs."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from agents.errors import InvalidInputs
from agents.nesting import DEEPEST, bounded, is_too_deep
from agents.text import unfenced
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.typed.told import told

_NOT_JSON = (ValueError, SyntaxError, RecursionError, MemoryError, TypeError)
_LITERAL_LIMIT = 20_000
_MESSAGE_LIMIT = 1_000


def describe_inputs(tool: Tool) -> str:
    """Return the inputs in one line: name, type, whether required, and what each is for.

    Those that hold objects are told with their JSON Schema.
    """
    return told(tool.schema)


def read_inputs(tool: Tool, text: str) -> dict[str, Any]:
    """Return the inputs that `text` holds, not yet checked.

    That is a JSON object, fenced or with words around it, whose names are the tool's. Else the
    whole text goes to the only input, to the one required string input, or, when nothing is
    required, to the first input if that is a string. Raises InvalidInputs.
    """
    bare = unfenced(text)
    found = _object(bare)
    if found is not None and _is_meant(found, bare, tool):
        kept: dict[str, Any] = bounded(found)
        return kept
    taker = _taker(tool)
    if taker is None and not bare:
        return {}
    if taker is None or not bare or _looks_broken(bare, tool.input_names):
        raise InvalidInputs(
            f"The inputs of {tool.name} must be one JSON object. It takes: {describe_inputs(tool)}."
        )
    return {taker: _value(tool, taker, bare)}


def check_inputs(tool: Tool, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs as the tool's own types; raises InvalidInputs naming every wrong one."""
    if is_too_deep(inputs):
        raise InvalidInputs(
            f"The inputs of {tool.name} are nested more than {DEEPEST} levels deep. "
            f"It takes: {describe_inputs(tool)}."
        )
    if isinstance(tool.inputs, JsonInputs):
        complaints = list(tool.inputs.complaints(inputs))
        checked = inputs
    else:
        complaints, checked = _validated(tool.inputs, inputs)
    if complaints:
        wrong = "; ".join(complaints)[:_MESSAGE_LIMIT]
        raise InvalidInputs(
            f"Invalid inputs for {tool.name}: {wrong}. It takes: {describe_inputs(tool)}."
        )
    return checked


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that `text` is or begins with, else the first one within it."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except _NOT_JSON:
        found = _literal(text[start:])
    if isinstance(found, dict) and all(isinstance(key, str) for key in found):
        return found
    return None


def _is_meant(found: dict[str, Any], text: str, tool: Tool) -> bool:
    """Tell the tool's inputs from braces that stand in a text for another reason, as in code."""
    if text.startswith("{"):
        return not found or not found.keys().isdisjoint(tool.input_names)
    try:
        check_inputs(tool, found)
    except InvalidInputs:
        return False
    return bool(found)


def _literal(text: str) -> object:
    """Return the Python literal that `text` is, for models that write one for JSON."""
    if len(text) > _LITERAL_LIMIT:
        return None
    try:
        return ast.literal_eval(text)
    except _NOT_JSON:
        return None


def _taker(tool: Tool) -> str | None:
    """Return the input that takes a plain text."""
    names = tool.input_names
    required = [name for name in names if name in tool.schema.get("required", ())]
    first = next(iter(required or names), None)
    if first is None or len(required) > 1:
        return None
    return first if len(names) == 1 or _is_text(tool, first) else None


def _looks_broken(text: str, names: Iterable[str]) -> bool:
    """Tell a JSON object of these inputs that does not parse from text that has a brace in it."""
    return text.startswith("{") and any(
        re.search(rf"[\"']{re.escape(name)}[\"']\s*:", text) for name in names
    )


def _value(tool: Tool, name: str, text: str) -> object:
    if _is_text(tool, name):
        return text
    try:
        return json.loads(text)
    except _NOT_JSON:
        return text


def _is_text(tool: Tool, name: str) -> bool:
    """Tell an input of any text from one of a closed set, a date or another type."""
    field = tool.schema["properties"][name]
    is_string: bool = field.get("type") == "string"
    return is_string and field.keys().isdisjoint({"enum", "const", "format"})


def _validated(model: type[BaseModel], inputs: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return what is wrong with the inputs, and the inputs as the model's own types."""
    try:
        checked = model.model_validate(inputs)
    except ValidationError as error:
        return list(_complaints(error)), {}
    return [], {name: getattr(checked, name) for name in model.model_fields}


def _complaints(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in problem["loc"])[:100] or "inputs"
        match problem["type"]:
            case "missing":
                yield f"Missing required input: {where}"
            case "extra_forbidden":
                yield f"Unknown input: {where}"
            case _:
                yield f"{where}: {problem['msg'][:200]}"
