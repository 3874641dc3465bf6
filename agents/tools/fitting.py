"""Fit inputs as a model gave them to a tool's own schema: the schema judges, nothing is invented.

Another name for the same input is taken, a value in another type where that loses nothing, and a
null where nothing is needed is left out. What does not fit stays as it is, for the check to refuse.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents.tools.spec import Tool

_WRAPPERS = frozenset(
    {"properties", "inputs", "input", "arguments", "args", "parameters", "params", "kwargs"}
    | {"action_input", "tool_input"}
)
_ANY_NAME = _WRAPPERS | {"value", "text", "string", "data", "param", "parameter", "arg", "content"}
_NUMBERED = re.compile(r"_{0,2}(?:arg|param|input)_?\d{0,2}")
_SAME = (
    frozenset(
        [
            "query",
            "q",
            "search",
            "searchquery",
            "searchterm",
            "term",
            "keyword",
            "keywords",
            "question",
        ]
    ),
    frozenset(["expression", "expr", "formula", "equation", "calculation", "math"]),
    frozenset(["text", "content", "string", "body", "message"]),
    frozenset(["path", "file", "filename", "filepath"]),
    frozenset(["url", "link", "uri", "href", "address"]),
    frozenset(["code", "source", "script", "program", "python", "snippet"]),
    frozenset(["city", "location", "place", "town"]),
    frozenset(["title", "name", "page", "topic"]),
    frozenset(["command", "cmd", "shell", "bash"]),
)
"""Names of inputs that models take for each other."""

_INTEGER = re.compile(r"[+-]?\d{1,300}(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_DEPTH = 20
_TEXT_LIMIT = 100_000


def fit_inputs(
    tool: Tool, given: Mapping[str, Any], *, keeps_unknown: bool = False
) -> dict[str, Any]:
    """Return the inputs under the tool's names and in its types, unknown ones left out.

    A tool whose schema takes more inputs than it lists is given those, too; `keeps_unknown` leaves
    all of them for the check to refuse.
    """
    schema = tool.schema
    fields = schema.get("properties", {})
    named = _renamed(_unwrapped(given, fields), schema)
    is_closed = schema.get("additionalProperties") is False and not keeps_unknown
    required = schema.get("required", ())
    fitted: dict[str, Any] = {}
    for name, value in named.items():
        if name not in fields:
            if not is_closed:
                fitted[name] = value
            continue
        fit = _fit(value, fields[name], schema, 0)
        if fit is not None or name in required or _takes(fields[name], schema, "null"):
            fitted[name] = fit
    return fitted


def _unwrapped(given: Mapping[str, Any], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs that stand one level too deep, as in `{"inputs": {...}}`."""
    if len(given) != 1 or not given.keys().isdisjoint(fields):
        return given
    ((name, inner),) = given.items()
    if name.lower() not in _WRAPPERS:
        return given
    inner = _loaded(inner, "{") if isinstance(inner, str) else inner
    return inner if isinstance(inner, Mapping) and all(isinstance(n, str) for n in inner) else given


def _renamed(given: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties", {})
    named = {name: value for name, value in given.items() if name in fields}
    strange = {name: value for name, value in given.items() if name not in fields}
    for alike in (_spelt_alike, _means_the_same):
        for name in list(strange):
            free = [field for field in fields if field not in named]
            fitting = [field for field in free if alike(name, field)]
            if len(fitting) == 1:
                named[fitting[0]] = strange.pop(name)
    missing = [field for field in schema.get("required", ()) if field not in named]
    sole = missing or list(fields)
    if len(strange) == 1 and len(sole) == 1 and not named.keys() & set(sole):
        ((name, value),) = strange.items()
        is_any = name.lower() in _ANY_NAME or _NUMBERED.fullmatch(name.lower()) is not None
        is_said = not isinstance(value, str) or value.strip()[:1] not in ("", "{")
        if is_any and is_said:
            return named | {sole[0]: value}
    return named | strange


def _spelt_alike(name: str, field: str) -> bool:
    return _plain(name) == _plain(field)


def _means_the_same(name: str, field: str) -> bool:
    bare, wanted = _plain(name), _plain(field)
    return bare.rstrip("s") == wanted.rstrip("s") or any(
        bare in same and wanted in same for same in _SAME
    )


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _fit(value: Any, field: Any, schema: Mapping[str, Any], depth: int) -> Any:
    """Return the value in a type that the field takes, itself where it cannot be said so."""
    if depth > _DEPTH or not isinstance(field, Mapping):
        return value
    options = list(_options(field, schema, 0))
    kinds = {kind for option in options for kind in _kinds(option)}
    if not kinds or _is_of(value, kinds):
        return _within(value, options, schema, depth)
    for kind in ("null", "integer", "number", "boolean", "object", "array", "string"):
        if kind in kinds and (fit := _CASTS[kind](value)) is not _NOT:
            return _within(fit, options, schema, depth)
    return value


def _within(
    value: Any, options: list[Mapping[str, Any]], schema: Mapping[str, Any], depth: int
) -> Any:
    """Fit what stands in a list or an object, and a word to the only case it is listed in."""
    if isinstance(value, str):
        listed = [one for option in options for one in option.get("enum", ())]
        alike = [one for one in listed if isinstance(one, str) and one.lower() == value.lower()]
        if alike and value not in listed:
            return alike[0]
        is_null = value.strip().lower() in ("null", "none")
        return None if is_null and any("null" in _kinds(option) for option in options) else value
    if isinstance(value, list):
        items = next((o["items"] for o in options if isinstance(o.get("items"), Mapping)), None)
        return value if items is None else [_fit(one, items, schema, depth + 1) for one in value]
    if isinstance(value, Mapping):
        inner: Mapping[str, Any] = next(
            (o["properties"] for o in options if isinstance(o.get("properties"), Mapping)), {}
        )
        return {name: _fit(one, inner.get(name), schema, depth + 1) for name, one in value.items()}
    return value


def _options(
    field: Mapping[str, Any], schema: Mapping[str, Any], depth: int
) -> Iterator[Mapping[str, Any]]:
    """Yield what the field may be: itself, what it points to, each of its alternatives."""
    if depth > _DEPTH:
        return
    target = field.get("$ref")
    if isinstance(target, str) and target.startswith("#/"):
        found: Any = schema
        for part in target[2:].split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            yield from _options(found, schema, depth + 1)
    alternatives = [field[name] for name in ("anyOf", "oneOf") if isinstance(field.get(name), list)]
    for option in (one for alternative in alternatives for one in alternative):
        if isinstance(option, Mapping):
            yield from _options(option, schema, depth + 1)
    if not alternatives and target is None:
        yield field


def _kinds(field: Mapping[str, Any]) -> set[str]:
    kind = field.get("type")
    return {kind} if isinstance(kind, str) else set(kind) if isinstance(kind, list) else set()


def _takes(field: Mapping[str, Any], schema: Mapping[str, Any], kind: str) -> bool:
    options = list(_options(field, schema, 0))
    kinds = {kind for option in options for kind in _kinds(option)}
    return not kinds or kind in kinds


def _is_of(value: Any, kinds: set[str]) -> bool:
    match value:
        case None:
            return "null" in kinds
        case bool():
            return "boolean" in kinds
        case int():
            return bool(kinds & {"integer", "number"})
        case float():
            return "number" in kinds
        case str():
            return "string" in kinds
        case list():
            return "array" in kinds
    return "object" in kinds


class _Not:
    """What a value becomes that cannot be of a kind."""


_NOT = _Not()


def _integer(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    is_written = isinstance(value, str) and _INTEGER.fullmatch(value.strip())
    return int(value.strip().partition(".")[0]) if is_written else _NOT


def _number(value: Any) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return _NOT
    number = float(value)
    return number if math.isfinite(number) else _NOT


def _boolean(value: Any) -> Any:
    return _WORDS.get(value.strip().lower(), _NOT) if isinstance(value, str) else _NOT


def _null(value: Any) -> Any:
    is_null = isinstance(value, str) and value.strip().lower() in ("null", "none")
    return None if is_null else _NOT


def _object(value: Any) -> Any:
    found = _loaded(value, "{") if isinstance(value, str) else None
    return found if isinstance(found, dict) else _NOT


def _array(value: Any) -> Any:
    if value is None or isinstance(value, Mapping):
        return _NOT if value is None else [value]
    found = _loaded(value, "[") if isinstance(value, str) else None
    return found if isinstance(found, list) else [value]


def _string(value: Any) -> Any:
    if isinstance(value, bool):
        return json.dumps(value)
    return str(value) if isinstance(value, int | float) else _NOT


def _loaded(text: str, opening: str) -> Any:
    """Return what JSON text holds, None for what is none."""
    bare = text.strip()
    if not bare.startswith(opening) or len(bare) > _TEXT_LIMIT:
        return None
    try:
        return json.loads(bare, strict=False)
    except (ValueError, RecursionError):
        return None


_CASTS: dict[str, Callable[[Any], Any]] = {
    "null": _null,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": _object,
    "array": _array,
    "string": _string,
}
