"""The shape of a structured reply: its action under any name, and what is wrong with the rest."""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

DEFAULT_CONFIDENCE = 0.8

_TOOLS = ("tool", "name", "tool_name")
_PARAMETERS = ("parameters", "params", "inputs", "arguments", "args")
_NO_TOOLS = frozenset({*_TOOLS, *_PARAMETERS, "requires_approval"})
_BESIDE = ("action_input", *_PARAMETERS)
_RESULTS = ("result", "final_answer", "answer", "output")
_NO_ACTION = frozenset({"", "none", "null", "n/a"})


class NamedAction(NamedTuple):
    """A tool and its parameters, as the model gave them."""

    tool: str
    parameters: dict[str, Any]


def named_action(given: object) -> NamedAction | None:
    """Return the action that an object names, None where it names no tool."""
    if not isinstance(given, Mapping):
        return None
    tool = next((given[name] for name in _TOOLS if given.get(name)), None)
    if isinstance(tool, bool) or not isinstance(tool, str | int | float):
        return None
    inputs = _object(next((given[name] for name in _PARAMETERS if name in given), None))
    bare = str(tool).strip()
    return None if inputs is None or not bare else NamedAction(bare, inputs)


def _object(given: object) -> dict[str, Any] | None:
    """Return parameters as an object, none as an empty one; None for what is no object."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        given = loose_value(given)
    if given is None or given == "":
        return {}
    return dict(given) if isinstance(given, Mapping) else None


def mended_shorthand(value: dict[str, Any], tools: Collection[str] = ()) -> dict[str, Any]:
    """Return the reply with its action as {tool, parameters}, where it is meant by a shorthand.

    That is {"action": {"click": {...}}}, or {"click": {...}} beside the thought for a known tool,
    or {"action": "click", "parameters": {...}}.
    """
    given = value.get("action")
    action = named_action(given)
    if action is None and isinstance(given, Mapping):
        pairs = ((name, inner) for name, inner in given.items() if name not in _NO_TOOLS)
        action = _first(pairs)
    if action is None and isinstance(given, str) and given.strip():
        beside = (value[name] for name in _BESIDE if isinstance(value.get(name), Mapping))
        parameters = next(beside, None)
        action = None if parameters is None else NamedAction(given.strip(), dict(parameters))
    if action is None:
        action = _first((name, inner) for name, inner in value.items() if name in tools)
    if action is None:
        return value
    return {**value, "action": {"tool": action.tool, "parameters": action.parameters}}


def says_complete(value: Mapping[str, Any]) -> bool:
    """Tell whether a reply says that all is done, in a field of its own."""
    return str(value.get("is_complete", "")).strip().lower() == "true"


def stated_result(value: Mapping[str, Any]) -> Any:
    """Return the result that stands beside the action, None where there is none; 0 is one."""
    return next((value[name] for name in _RESULTS if value.get(name) not in (None, "")), None)


def is_no_action(action: NamedAction) -> bool:
    """Tell whether an action says by its name that there is none."""
    return action.tool.lower() in _NO_ACTION


def complaints(value: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a reply as {thought, action: {tool, parameters}, confidence}."""
    found: list[str] = []
    if "thought" not in value:
        found.append("Missing required field 'thought'")
    elif not isinstance(value["thought"], str):
        found.append(f"'thought' must be a string, got {type(value['thought']).__name__}")
    found += _of_action(value)
    if value.get("confidence") is not None:
        found += _of_confidence(value["confidence"])
    return found


def clamped_confidence(value: Mapping[str, Any]) -> float:
    """Return the confidence that a reply states, held between 0 and 1; 0.8 where it states none."""
    given = value.get("confidence")
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isnan(given):
        return DEFAULT_CONFIDENCE
    return float(min(1, max(0, given)))


def loose_value(written: str) -> object:
    """Return JSON as its value, anything else as the text that it is."""
    try:
        return json.loads(written, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        return written


def _finite(written: str) -> float | str:
    return float(written) if math.isfinite(float(written)) else written


def _first(pairs: Iterable[tuple[str, object]]) -> NamedAction | None:
    for name, inner in pairs:
        if isinstance(inner, Mapping) and name.strip():
            return NamedAction(name.strip(), dict(inner))
    return None


def _of_action(value: Mapping[str, Any]) -> list[str]:
    if "action" not in value:
        return ["Missing required field 'action'"]
    action = value["action"]
    if not isinstance(action, Mapping):
        return [f"'action' must be an object, got {type(action).__name__}"]
    found: list[str] = []
    for name, kind, word in (("tool", str, "a string"), ("parameters", Mapping, "an object")):
        if name not in action:
            found.append(f"Missing required field 'action.{name}'")
        elif not isinstance(action[name], kind):
            got = type(action[name]).__name__
            found.append(f"'action.{name}' must be {word}, got {got}")
    return found


def _of_confidence(given: object) -> list[str]:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return [f"'confidence' must be a number, got {type(given).__name__}"]
    if not 0 <= given <= 1:
        return [f"'confidence' must be between 0.0 and 1.0, got {given}"]
    return []
