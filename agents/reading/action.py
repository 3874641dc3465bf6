"""Read an action out of what a model wrote behind its label, in any of the ways models write one.

The format asked for is `Action: {"tool": ..., "inputs": {...}, "final_answer": false}`. Taken as
well are a tool's name with `Action Input:` in the next line, and the native calls that models fall
back to. The first action counts. No value is invented: what cannot be read is a ParseError.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.errors import ParseError
from agents.reading.json_repair import read_object

_TOOLS = ("tool", "tool_name", "name", "action", "function")
_INPUTS = (
    "inputs",
    "input",
    "arguments",
    "parameters",
    "params",
    "action_input",
    "args",
    "tool_input",
)
_NO_TOOL = frozenset({"", "none", "null", "n/a", "na", "no", "nothing", "no tool", "no action"})
_STRAY = " \t\r\n`'\"*[](){}<>.,:;"
_LEAD = re.compile(
    r"[ \t\r\n*_~]*+(?:`{3,}[\w+-]{0,12}[ \t\r\n]++)?(?:json[ \t\r\n]++)?(?:\[\s*+(?=\{))?", re.I
)
_NAMED = re.compile(r"(?:call:)?\s*+(?P<name>[\w.:-]{1,100}+)\s*+(?:\[ARGS\])?\s*+(?=\{)", re.I)
_INPUT = re.compile(r"\bAction[ \t_-]{0,3}Input[*_`]{0,3}[ \t]{0,3}[:\uff1a][*_]{0,3}", re.I)
_NEXT = re.compile(
    r"^[ \t>#*_]{0,8}(?:Thought|Action|Observation|Final[ \t_-]?Answer)"
    r"[*_]{0,3}[ \t]{0,3}[:\uff1a]",
    re.I | re.M,
)
_PAIR = re.compile(
    r"\s*+(?P<name>\w{1,100}+)\s*+[=:]\s*+"
    r'(?:(?P<text>"(?:[^"\\]++|\\.)*+")|<\|"\|>(?P<quoted>[^<]*+)<\|"\|>|(?P<scalar>[^\s,{}"]++))'
    r"\s*+(?P<end>[,}])",
    re.DOTALL,
)


@dataclass(frozen=True)
class WrittenAction:
    """A tool to call, None for none, and its inputs, as an object or as text for the tool to take.

    `is_final` says what the model means to do with the result.
    """

    tool: str | None
    inputs: dict[str, Any] | str = field(default_factory=dict)
    is_final: bool = False


def read_action(text: str, start: int = 0) -> tuple[WrittenAction, int]:
    """Return the action that stands behind its label at `start`, and where it ends."""
    at = _after_lead(text, start)
    if text.startswith("{", at):
        value, end = read_object(text, at)
        return action_of(value), end
    return _written_out(text, at)


def read_native(text: str, start: int = 0) -> tuple[WrittenAction, int]:
    """Return the native call behind its mark at `start`, and where it ends."""
    at = _after_lead(text, start)
    named = _NAMED.match(text, at)
    if named is None:
        return read_action(text, at)
    inputs, end = _native_inputs(text, named.end())
    return WrittenAction(tool=_name(named["name"]), inputs=inputs), end


def action_of(value: Mapping[str, Any]) -> WrittenAction:
    """Return the action that a JSON object stands for."""
    function = value.get("function")
    body: Mapping[str, Any] = function if isinstance(function, dict) else value
    tool = next((body[name] for name in _TOOLS if name in body), None)
    inputs = next((body[name] for name in _INPUTS if name in body), None)
    return WrittenAction(_tool(tool), _inputs(inputs), _is_true(value.get("final_answer")))


def read_inputs(text: str) -> dict[str, Any]:
    """Return the JSON object that stands in an Action Input, past a fence and words around it."""
    label = _NEXT.search(text)
    brace = text.find("{")
    if 0 <= brace < (len(text) if label is None else label.start()):
        return read_object(text, brace).value
    said = (text if label is None else text[: label.start()]).strip(" \t\r\n`")
    if said.lower() in _NO_TOOL:
        return {}
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        raise ParseError("The Action Input holds no JSON object that can be read.") from None
    raise ParseError("The Action Input must be a JSON object.")


def _written_out(text: str, start: int) -> tuple[WrittenAction, int]:
    """Read `name`, `name {inputs}`, or a name with its Action Input in the same or a later line."""
    following = _NEXT.search(text, start + 1)
    end = len(text) if following is None else following.start()
    label = _INPUT.search(text, start)
    newline = text.find("\n", start)
    line_end = end if newline < 0 else min(newline, end)
    if label is not None and label.start() < end:
        name, given = text[start : min(line_end, label.start())], text[label.end() :]
    else:
        name, brace, given = text[start:line_end].partition("{")
        given = brace + given
        end = line_end
    if (tool := _name(name)) is None:
        return WrittenAction(None), line_end
    inputs = read_inputs(given)
    if label is None and " " in tool and not inputs.keys().isdisjoint(("tool", "tool_name")):
        return action_of(inputs), end
    return WrittenAction(tool, inputs), end


def _after_lead(text: str, start: int) -> int:
    lead = _LEAD.match(text, start)
    return start if lead is None else lead.end()


def _native_inputs(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Read the inputs of a native call: a JSON object, or `{name="value", other: 3}`."""
    if _PAIR.match(text, start + 1) is None:
        return read_object(text, start)
    inputs: dict[str, Any] = {}
    at = start + 1
    while pair := _PAIR.match(text, at):
        inputs |= read_object(f"{{{json.dumps(pair['name'])}: {_value(pair)}}}").value
        at = pair.end()
        if pair["end"] == "}":
            return inputs, at
    raise ParseError("The inputs of the call cannot be read.")


def _value(pair: re.Match[str]) -> str:
    quoted: str | None = pair["quoted"]
    return json.dumps(quoted) if quoted is not None else pair["text"] or pair["scalar"]


def _tool(given: object) -> str | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ParseError("The tool of an action must be a name, or null for none.")
    return _name(str(given))


def _name(given: str) -> str | None:
    bare = given.strip(_STRAY)
    return None if bare.lower() in _NO_TOOL else bare


def _inputs(given: object) -> dict[str, Any]:
    if not given:
        return {}
    if isinstance(given, str) and given.lstrip().startswith("{"):
        given = read_object(given.lstrip()).value
    if not isinstance(given, dict):
        raise ParseError("The inputs of an action must be a JSON object.")
    return given


def _is_true(given: object) -> bool:
    return given.strip().lower() == "true" if isinstance(given, str) else given in (True, 1)
