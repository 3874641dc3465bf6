"""Read the calls that a model wrote in its own markup, whichever family it is of.

One scanner knows them all: between the marks of a family there stands an object that names its
tool, a name with an object behind it, a call as in Python, or tags. Where one call cannot be read,
none is taken.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agents.errors import ParseError
from agents.reading.action import WrittenAction
from agents.reading.markup.loose_json import read_loosely
from agents.reading.markup.pythonic import read_python
from agents.reading.markup.shapes import MAX_CALLS, Known, calls_of
from agents.reading.markup.tagged import OPENS, PAIRS, read_pairs, read_tagged

_BAR = r"[|\uff5c]"
_WRAPPER = (
    r"(?:\w{1,20}:)?(?:tool_?calls?|tools?|function_?calls?|(?:start|end)_function_call|json|action"
    r"|tool_code|tool_input|tool_use)"
)
_SKIPPED = re.compile(
    rf"(?:(?:[\s,;\]()]|\[(?!/?(?:TOOL_CALL|ARGS)))++|<\|(?:channel|constrain)\|>\s*+\w{{1,20}}(?=\s*+<)"
    rf"|<{_BAR}(?!\")[^<>\n\"]{{0,60}}>|<[^<>\n\"]{{0,60}}{_BAR}>|</?{_WRAPPER}>"
    r"|\[/?(?:TOOL_CALLS?|ARGS)\]|functools(?=\s*\[)|\u273f(?:ARGS|FUNCTION)\u273f\s*+:"
    r"|`{3,}+[\w+-]{0,20}|>>>|</[\w:]{1,40}>)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:call:|to=)?(?:functions?\.|tools?\.)?(?P<name>\w[\w.-]{0,99})(?::\d{1,4})?")
_WORDS = frozenset({"function", "assistant", "commentary", "analysis", "json", "final", "tool"})
"""What stands in a mark's place and is no tool's name."""

_INPUT_TAG = re.compile(r"\s*+(?:</tool>\s*+)?<(?P<tag>tool_input|action_input|input|args)>", re.I)
_ENDS = re.compile(r"\s*+(?:\Z|</|<[|\uff5c]|<\w{1,20}[|\uff5c]>)")
MARK = re.compile(
    rf"<{_BAR}?(?:\w{{1,20}}:|{_BAR}?DSML{_BAR})?(?:tool[_\u2581]?calls?|function[_\u2581]?calls?|tools?"
    r"|json|start_function_call|tool_code)(?:[_\u2581](?:start|begin|section_begin))?"
    rf"{_BAR}?>|<{_BAR}?(?:START_ACTION|action_start|plugin|python_tag|python_start){_BAR}?>"
    rf"|<(?:\w{{1,20}}:|{_BAR}DSML{_BAR})?(?:invoke|function)(?:\s{{1,9}}name\s{{0,9}}=|=)"
    r"|\[TOOL_CALLS?\]|\u273fFUNCTION\u273f",
    re.IGNORECASE,
)
"""How calls begin that are seen while a reply streams."""

CALL_MARK = re.compile(
    rf"{MARK.pattern}|functools(?=\s*\[)|>>>(?=\w[\w.-]{{0,99}}\n\s*\{{)"
    r"|<\|(?:start|channel)\|>\w{0,20}\s{0,9}(?:<\|channel\|>\w{1,20}\s{0,9})?to=",
    re.IGNORECASE,
)
"""How calls begin, also behind plain words."""

_DSML = re.compile(r"(</?)[|\uff5c]DSML[|\uff5c]")
_OBJECT = re.compile(r"\{\s*+[\"'\u201c}\w]")
_TRIES = 8
_LIMIT = 400_000


class Calls(NamedTuple):
    """The calls in their order; without any, `error` says what is wrong."""

    actions: tuple[WrittenAction, ...] = ()
    error: str = ""


def read_calls(written: str, known: Known) -> Calls:
    """Return the calls of a text that begins with the mark of one."""
    text = _DSML.sub(r"\1", written[:_LIMIT])
    actions: list[WrittenAction] = []
    try:
        for found in _scanned(text, known):
            actions += found
            if len(actions) >= MAX_CALLS:
                break
    except ParseError as error:
        return Calls(error=str(error))
    if not actions:
        return Calls(error="It holds no call that can be read.")
    return Calls(tuple(actions[:MAX_CALLS]))


def _scanned(text: str, known: Known) -> Iterator[list[WrittenAction]]:
    """Yield the calls at each place; what is none is passed over up to the next mark."""
    at, tries, has_read = 0, 0, False
    while (at := _after_marks(text, at)) < len(text):
        found = _call_at(text, at, known)
        if found is None:
            tries += 1
            following = (CALL_MARK if has_read else _NEXT).search(text, at + 1)
            if following is None or tries > _TRIES:
                return
            at = following.start()
            continue
        calls, at = found
        has_read = has_read or bool(calls)
        yield calls


_NEXT = re.compile(f"{CALL_MARK.pattern}|{_OBJECT.pattern}", re.IGNORECASE)


def _call_at(text: str, at: int, known: Known) -> tuple[list[WrittenAction], int] | None:
    """Return the calls that begin exactly here, and where they end; None where none does."""
    if text.startswith("{", at):
        value, end = read_loosely(text, at)
        calls = calls_of(value, known)
        if not calls:
            raise ParseError("The call names no tool.")
        return calls, end
    if (opening := OPENS.match(text, at)) is not None:
        action, end = read_tagged(text, opening)
        return [action], end
    named = _NAME.match(text, at)
    return None if named is None else _named(text, named, known)


def _named(text: str, named: re.Match[str], known: Known) -> tuple[list[WrittenAction], int] | None:
    """Return the call of a name and what stands behind it."""
    name, end = named["name"].rstrip(".-"), named.end()
    if text.startswith("(", end):
        action, end = read_python(text, named.start("name"))
        return [action], end
    behind = _after_marks(text, end)
    if text.startswith("{", behind):
        value, end = read_loosely(text, behind)
        own = [] if known(name) else calls_of(value, known)
        return own or [WrittenAction(name, value)], end
    if name.lower() in _WORDS or OPENS.match(text, behind):
        return [], behind
    if PAIRS.match(text, behind):
        action, end = read_pairs(text, name, behind)
        return [action], end
    if (tag := _INPUT_TAG.match(text, end)) is not None:
        return _in_tag(text, name, tag)
    if known(name) and _ENDS.match(text, end) and text[:end].strip() != name:
        if "<" not in text[end:]:
            raise ParseError("The call breaks off behind its name.")
        return [WrittenAction(name, {})], end
    return None


def _in_tag(text: str, name: str, tag: re.Match[str]) -> tuple[list[WrittenAction], int]:
    closing = text.find(f"</{tag['tag']}>", tag.end())
    if closing < 0:
        raise ParseError("The call breaks off before its input is closed.")
    return [WrittenAction(name, text[tag.end() : closing].strip())], closing


def _after_marks(text: str, at: int) -> int:
    """Return where the next thing stands that is no mark, no comma and no space."""
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    return at
