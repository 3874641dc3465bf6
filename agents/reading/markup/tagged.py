"""Read a call that is written in tags: each input in its own, or all of them as JSON.

`<invoke name="x"><parameter name="p">v</parameter></invoke>`, `<function=x><parameter=p>v`, and
GLM's pairs of `<arg_key>` and `<arg_value>`. Values are texts; the schema says what they are.
"""

import re
from typing import Any

from agents.errors import ParseError
from agents.reading.action import WrittenAction
from agents.reading.markup.loose_json import read_loosely

OPENS = re.compile(
    r"<(?:\w{1,20}:)?(?:invoke|function|call)(?:\s{1,9}name\s{0,9}=\s{0,9}|=)[\"']?"
    r"(?P<name>[^\"'<>\s]{1,100})[\"']?[^<>]{0,200}>",
    re.IGNORECASE,
)
PAIRS = re.compile(r"<arg_key>", re.IGNORECASE)
_CLOSES = re.compile(r"</(?:\w{1,20}:)?(?:invoke|function|call)>", re.IGNORECASE)
_PARAMETER = re.compile(
    r"<(?:\w{1,20}:)?param(?:eter)?(?:\s{1,9}name\s{0,9}=\s{0,9}|=)[\"']?"
    r"(?P<name>[^\"'<>\n]{1,100}?)[\"']?(?:\s[^<>]{0,200})?>",
    re.IGNORECASE,
)
_PARAMETER_CLOSES = re.compile(r"</(?:\w{1,20}:)?param(?:eter)?>", re.IGNORECASE)
_PAIR = re.compile(r"\s*+<arg_key>(?P<name>[^<]{1,200})</arg_key>\s*+<arg_value>", re.IGNORECASE)
_VALUE_CLOSES = re.compile(r"</arg_value>", re.IGNORECASE)
_BREAKS_OFF = "The call breaks off before it is closed."


def read_tagged(text: str, opening: re.Match[str]) -> tuple[WrittenAction, int]:
    """Return the call that a tag opens, and where it ends; raises ParseError."""
    name, at = opening["name"], opening.end()
    brace = re.compile(r"\s*+(?=\{)").match(text, at)
    if brace is not None:
        found = read_loosely(text, brace.end())
        closing = _CLOSES.search(text, found.end)
        return WrittenAction(name, found.value), found.end if closing is None else closing.end()
    inputs: dict[str, Any] = {}
    while True:
        closing, parameter = _CLOSES.search(text, at), _PARAMETER.search(text, at)
        if parameter is None or (closing is not None and closing.start() < parameter.start()):
            break
        end = _PARAMETER_CLOSES.search(text, parameter.end())
        if end is None:
            raise ParseError(_BREAKS_OFF)
        inputs[parameter["name"].strip()] = _value(text[parameter.end() : end.start()])
        at = end.end()
    if closing is None:
        raise ParseError(_BREAKS_OFF)
    return WrittenAction(name, inputs), closing.end()


def read_pairs(text: str, name: str, start: int) -> tuple[WrittenAction, int]:
    """Return the call whose pairs of key and value begin at `start`; raises ParseError."""
    inputs: dict[str, Any] = {}
    at = start
    while (pair := _PAIR.match(text, at)) is not None:
        end = _VALUE_CLOSES.search(text, pair.end())
        if end is None:
            raise ParseError(_BREAKS_OFF)
        inputs[pair["name"].strip()] = _value(text[pair.end() : end.start()])
        at = end.end()
    if not re.compile(r"\s*+</").match(text, at):
        raise ParseError(_BREAKS_OFF)
    return WrittenAction(name, inputs), at


def _value(written: str) -> str:
    """Return a value without the line breaks that only part it from its tags."""
    is_apart = written.startswith("\n") and written.endswith("\n") and len(written) > 1
    return written[1:-1] if is_apart else written
