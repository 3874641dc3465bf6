"""Read what a model gave a tool, as an object or as text, into inputs that its schema knows.

Text may be a JSON object in any writing, `name="value"`, lines of `name: value`, or what a single
text input takes, with or without quotes.
"""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from agents.errors import InvalidInputs, ParseError
from agents.nesting import bounded
from agents.reading.markup.loose_json import read_loosely
from agents.text import unfenced
from agents.tools.fitting import fit_inputs
from agents.tools.inputs import check_inputs, describe_inputs, read_inputs
from agents.tools.spec import Tool

_NOTHING = frozenset({"", "none", "null", "n/a", "na", "nothing", "{}", "()", "no input", "empty"})
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "«": "»"}
_CALLED = re.compile(r"[\w.-]{1,100}\(\s*(?P<inner>\{.*\})\s*\)\s*", re.DOTALL)
_KEYWORDS = re.compile(r"[^\W\d]\w{0,99}\s{0,8}=(?!=)")
_LINE = re.compile(
    r"[ \t]*(?:[-*][ \t]+)?[*_`\"']{0,3}(?P<name>\w{1,100})[*_`\"']{0,3}[ \t]*[:=][ \t]*"
    r"(?P<value>.*)"
)
_CODE = frozenset({"code", "script", "source", "program", "text", "content", "json", "expression"})
_LITERALS = 20_000
_LINES = 50


def inputs_of(tool: Tool, given: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the inputs, fitted to the schema and not yet checked; raises InvalidInputs."""
    fitted: dict[str, Any] = bounded(
        fit_inputs(tool, _from_text(tool, given) if isinstance(given, str) else given)
    )
    return fitted


def _from_text(tool: Tool, text: str) -> Mapping[str, Any]:
    bare = unfenced(text)
    if not tool.schema.get("required") and bare.lower() in _NOTHING:
        return {}
    found = _object(tool, bare) or _keywords(tool, bare) or _lines(tool, bare)
    if found is None and _is_strange_object(tool, bare):
        raise InvalidInputs(
            f"The inputs of {tool.name} have other names. It takes: {describe_inputs(tool)}."
        )
    return found if found is not None else read_inputs(tool, unquoted(bare))


def _is_strange_object(tool: Tool, text: str) -> bool:
    """Tell inputs of other names from a text that is code and begins with a brace."""
    if not text.startswith("{") or not _CODE.isdisjoint(tool.input_names):
        return False
    try:
        found = read_loosely(text)
    except ParseError:
        return False
    return bool(found.value) and not text[found.end :].strip()


def unquoted(text: str) -> str:
    """Return a text without the quotes that stand around all of it."""
    bare = text.strip()
    closing = _QUOTES.get(bare[:1])
    if closing is None or len(bare) < 2 or not bare.endswith(closing):
        return text
    inner = bare[1:-1]
    if bare[0] == '"':
        try:
            said = json.loads(bare, strict=False)
        except (ValueError, RecursionError):
            said = None
        return said if isinstance(said, str) else text
    return text if bare[0] in inner or closing in inner else inner


def _object(tool: Tool, text: str) -> dict[str, Any] | None:
    """Return the object that the text is, or that stands in it and is the tool's."""
    called = _CALLED.fullmatch(text)
    written = called["inner"] if called is not None else text.lstrip("*_ \t")
    brace = written.find("{")
    if brace < 0:
        return None
    try:
        found = read_loosely(written, brace).value
    except ParseError:
        return None
    fitted = fit_inputs(tool, found)
    if brace == 0 and not found:
        return found
    is_known = not fitted.keys().isdisjoint(tool.input_names)
    if brace == 0:
        return found if is_known else None
    try:
        check_inputs(tool, fitted)
    except InvalidInputs:
        return None
    return found if is_known else None


def _keywords(tool: Tool, text: str) -> dict[str, Any] | None:
    """Return what stands as `name="value", other=3`, with or without the tool's name around."""
    call = text if text.startswith(tool.name + "(") else f"_({text})"
    if len(text) > _LITERALS or _KEYWORDS.search(text) is None:
        return None
    try:
        written = ast.parse(call, mode="eval").body
        if not isinstance(written, ast.Call) or written.args:
            return None
        found = {str(one.arg): ast.literal_eval(one.value) for one in written.keywords}
        json.dumps(found, allow_nan=False)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return found if found and found.keys() <= set(tool.input_names) else None


def _lines(tool: Tool, text: str) -> dict[str, Any] | None:
    """Return what stands as lines of `name: value`, each an input of the tool."""
    lines = text.splitlines()
    if not 0 < len(lines) <= _LINES:
        return None
    pairs = [_LINE.fullmatch(line) for line in lines]
    found = {pair["name"]: unquoted(pair["value"].strip()) for pair in pairs if pair is not None}
    is_all = len(found) == len(lines) and found.keys() <= set(tool.input_names)
    return dict(found) if is_all else None
