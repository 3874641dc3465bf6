"""The shapes in which a JSON value stands for calls, whichever words it has for tool and inputs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from agents.errors import ParseError
from agents.reading.action import WrittenAction
from agents.reading.markup.loose_json import read_loosely

Known = Callable[[str], bool]
"""Tell whether a name is that of a tool that was offered."""

_LISTS = ("tool_calls", "tool_uses", "toolcalls", "calls", "actions", "function_calls")
_SINGLES = ("function_call", "tool_call", "toolcall", "tool_use")
_NAMES = ("name", "tool", "tool_name", "toolname", "function", "function_name", "action")
_ALSO_NAMES = ("recipient_name", "tool_id", "api_name")
_INPUTS = ("arguments", "parameters", "inputs", "args", "params", "input", "action_input")
_ALSO_INPUTS = ("tool_input", "tool_args", "tool_arguments", "tool_parameters", "kwargs")
_THOUGHTS = ("thought", "thoughts", "reasoning", "thinking")
_ANSWERS = ("final_answer", "finalanswer", "answer")
_NO_TOOL = frozenset({"", "none", "null", "n/a", "no", "nothing", "no tool", "no action"})
_DEPTH = 4
MAX_CALLS = 16
"""Calls that are read of one reply."""


def calls_of(value: Any, known: Known, depth: int = 0) -> list[WrittenAction]:
    """Return the calls that a value stands for, none where it stands for something else.

    Raises ParseError where one of several calls names no tool.
    """
    if isinstance(value, list):
        return _of_list(value, known, depth)
    if not isinstance(value, Mapping) or depth > _DEPTH:
        return []
    fields = {str(name).strip().lower(): inner for name, inner in value.items()}
    name = _name(fields)
    for several in (*_LISTS, *_SINGLES):
        if isinstance(fields.get(several), list | Mapping) and not name:
            return calls_of(fields[several], known, depth + 1)
    if name is None:
        return _of_inner(fields, known, depth) or _of_shorthand(value, known)
    given = _first(fields, (*_INPUTS, *_ALSO_INPUTS))
    if given is None and not known(name):
        return []
    if name.strip().lower() in _NO_TOOL:
        return []
    return [WrittenAction(name.strip(), _inputs(given))]


def answer_of(value: Any) -> str:
    """Return the answer that an object gives in place of a call, empty where it gives none."""
    if not isinstance(value, Mapping):
        return ""
    fields = {str(name).strip().lower(): inner for name, inner in value.items()}
    name = _name(fields) or ""
    if name.strip().lower() not in _NO_TOOL:
        return ""
    found = _first(fields, _ANSWERS)
    is_said = isinstance(found, str) and found.strip().lower() not in ("true", "false")
    return found.strip() if is_said and isinstance(found, str) else ""


def thought_of(value: Any) -> str:
    """Return the thought that stands beside a call, empty where none does."""
    if not isinstance(value, Mapping):
        return ""
    fields = {str(name).strip().lower(): inner for name, inner in value.items()}
    found = _first(fields, _THOUGHTS)
    if isinstance(found, Mapping):
        found = found.get("content", found.get("text"))
    return found.strip() if isinstance(found, str) else ""


def _of_list(value: list[Any], known: Known, depth: int) -> list[WrittenAction]:
    found = [calls_of(one, known, depth + 1) for one in value[:MAX_CALLS]]
    calls = [call for one in found for call in one]
    if calls and not all(found):
        raise ParseError("One of the calls names no tool.")
    return calls


def _of_inner(fields: Mapping[str, Any], known: Known, depth: int) -> list[WrittenAction]:
    """Return the call of an object that stands where a name could, as in OpenAI's `function`."""
    for name in ("function", "action", "tool"):
        inner = fields.get(name)
        if isinstance(inner, Mapping):
            given = _first(fields, (*_INPUTS, *_ALSO_INPUTS))
            beside = {} if given is None else {"arguments": given}
            return calls_of({**beside, **inner}, known, depth + 1)
    return []


def _of_shorthand(value: Mapping[str, Any], known: Known) -> list[WrittenAction]:
    """Return the call in `{"search": {...}}`."""
    if len(value) != 1:
        return []
    ((name, inner),) = value.items()
    is_call = isinstance(inner, Mapping) and known(str(name))
    return [WrittenAction(str(name), dict(inner))] if is_call else []


def _name(fields: Mapping[str, Any]) -> str | None:
    names = (fields[name] for name in (*_ALSO_NAMES, *_NAMES) if name in fields)
    return next((name for name in names if isinstance(name, str)), None)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _inputs(given: Any) -> dict[str, Any] | str:
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            return read_loosely(given.lstrip()).value
        except ParseError:
            return given
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], Mapping):
        return dict(given[0])
    if given is None or given == []:
        return {}
    if isinstance(given, list):
        raise ParseError("The inputs of an action must be a JSON object.")
    return given if isinstance(given, str) else json.dumps(given)
