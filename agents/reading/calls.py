"""Read the tool calls of a plan: a JSON array in a fence, in prose or bare.

Both ways to write a call are taken: `{callId, toolName, arguments}` and OpenAI's
`{id, type, function: {name, arguments}}` with its arguments as JSON text. A call that cannot be
read voids them all, for a plan with a hole in it is another plan.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from agents.contracts import Value
from agents.nesting import bounded

_NOT_JSON = (ValueError, RecursionError, MemoryError)
_SPACE_AND_FENCE = re.compile(r"\s*+(?:```[\w+-]{0,20}\s*+)?")
_ARRAY = re.compile(r"\[(?=[ \t\r\n]{0,1000}[{\]])")
_PARTS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)
_MENDED_LIMIT = 200_000
_NAMES = ("toolName", "tool_name", "tool", "name")
_ARGUMENTS = ("arguments", "parameters", "params", "inputs", "args")
_IDS = ("callId", "call_id", "id")
_MISSING = object()


class PlannedCall(Value):
    """A call as the plan has it; `arguments` None where it names none."""

    id: str = ""
    tool: str
    arguments: Annotated[Any, BeforeValidator(bounded)] = None


class FoundCalls(NamedTuple):
    """The calls of a text and where they end in it; None where there is no array of calls."""

    calls: tuple[PlannedCall, ...] | None
    end: int


def find_calls(text: str, start: int = 0, before: int | None = None) -> FoundCalls:
    """Return the first array of calls that begins within the bounds, or the one call at `start`.

    No other array is tried when that one is broken: one inside it would be taken for the plan.
    """
    at = _opening(text, start, len(text) if before is None else before)
    if at is None:
        return FoundCalls(None, start)
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except _NOT_JSON:
        value, end = _mended(text, at)
    return FoundCalls(calls_of(value), end)


def calls_of(value: object) -> tuple[PlannedCall, ...] | None:
    """Return the calls that a JSON value stands for; None if one of them cannot be read."""
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list):
        return None
    calls = [_call(entry) for entry in entries]
    known = [call for call in calls if call is not None]
    return tuple(known) if len(known) == len(calls) else None


def _call(entry: object) -> PlannedCall | None:
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    body = function if isinstance(function, dict) else entry
    tool = _first(body, _NAMES)
    if not isinstance(tool, str) or not tool.strip():
        return None
    call_id, arguments = _first(entry, _IDS), _first(body, _ARGUMENTS)
    return PlannedCall(
        id=str(call_id) if isinstance(call_id, str | int) else "",
        tool=tool.strip(),
        arguments=None if arguments is _MISSING else _decoded(arguments),
    )


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((fields[name] for name in names if name in fields), _MISSING)


def _decoded(arguments: object) -> object:
    """Return arguments that came as JSON text as the object or the text they are."""
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments, strict=False)
    except _NOT_JSON:
        return arguments
    return found if isinstance(found, dict | str) else arguments


def _opening(text: str, start: int, before: int) -> int | None:
    body = _SPACE_AND_FENCE.match(text, start)
    if body is not None and text.startswith("{", body.end()) and body.end() < before:
        return body.end()
    array = _ARRAY.search(text, start)
    return array.start() if array is not None and array.start() < before else None


def _mended(text: str, start: int) -> tuple[object, int]:
    """Return the value that begins at `start`, read without commas before closing brackets.

    None where that does not mend it.
    """
    pieces: list[str] = []
    depth, copied, comma = 0, start, -1
    for match in _PARTS.finditer(text, start, start + _MENDED_LIMIT):
        part, at = match[0], match.start()
        if comma >= 0 and part in ("]", "}") and not text[comma + 1 : at].strip():
            pieces.append(text[copied:comma])
            copied = comma + 1
        comma = at if part == "," else -1
        depth += (part in ("[", "{")) - (part in ("]", "}"))
        if depth == 0:
            pieces.append(text[copied : match.end()])
            return _loaded("".join(pieces)), match.end()
    return None, start


def _loaded(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except _NOT_JSON:
        return None
