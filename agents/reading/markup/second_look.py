"""Look again at a reply in which its form's own reader found no step: at what has no mark or label.

Looked for, in this order: a call behind a mark that is a plain word, an object that names a tool, a
call as in Python, a tool's name with an object below it, and labels of other words.
"""

import re
from collections.abc import Iterator
from itertools import islice

from agents.errors import ParseError
from agents.reading.action import WrittenAction
from agents.reading.markup.calls import CALL_MARK, MARK, Calls, read_calls
from agents.reading.markup.loose_json import read_loosely
from agents.reading.markup.shapes import Known, answer_of, calls_of, thought_of

_TRIES = 8
_MARK = re.compile(rf"(?<!`)(?:{CALL_MARK.pattern})", re.IGNORECASE)
_WRITTEN = re.compile(rf"(?<!`)(?:{MARK.pattern})\s*+(?=[\[{{])", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]{0,4}(?P<marks>`{3,20}|~{3,20}).*?^[ \t]{0,4}(?P=marks)", re.M | re.S)
_BRACE = re.compile(r"\{")
_CALL_SHAPED = re.compile(
    r"\{\s*+[\"']?(?:name|tool|tool_name|action|function|recipient_name|arguments|parameters"
    r"|tool_calls)[\"']?\s*+:",
    re.IGNORECASE,
)
_PYTHON = re.compile(
    r"(?:\A|(?<!`)`{3,}+(?:tool_code|tool_call|tool|function)[^\n]*\n)\s*+\[?\s*+(?P<name>\w[\w.]{0,99})\((?!\))"
)
_NAMED = re.compile(r"^[ \t]*(?P<name>\w[\w.-]{0,99})[ \t]*+:?[ \t]*+\n\s*+(?=\{)", re.MULTILINE)


def unmarked_calls(text: str, known: Known) -> Iterator[tuple[int, Calls]]:
    """Yield where calls without a mark of the stream may begin, and what they are."""
    mark = _MARK.search(text)
    if mark is not None:
        yield mark.start(), read_calls(text[mark.start() :], known)
    yield from _objects(text, known)
    python = _PYTHON.search(text)
    if python is not None and known(python["name"]):
        yield python.start(), read_calls(text[python.start("name") :], known)
    for named in _NAMED.finditer(text):
        if known(named["name"]):
            yield named.start(), read_calls(f"<tool>{text[named.start() :]}", known)
            return


def holds_call(text: str) -> bool:
    """Tell whether a whole call stands in a text, with its mark and outside of code."""
    outside = _FENCED.sub("", text)
    written = islice(_WRITTEN.finditer(outside), _TRIES)
    return any(_is_call(outside, mark.end()) for mark in written)


def _is_call(text: str, at: int) -> bool:
    try:
        return bool(calls_of(read_loosely(text, at).value, lambda name: False))
    except ParseError:
        return False


def said_in_object(text: str) -> tuple[str, str]:
    """Return the thought and the answer of the object that the text is, empty where it has none."""
    brace = text.find("{")
    if brace < 0:
        return "", ""
    try:
        value = read_loosely(text, brace).value
    except ParseError:
        return "", ""
    return thought_of(value), answer_of(value)


def _objects(text: str, known: Known) -> Iterator[tuple[int, Calls]]:
    at = 0
    for _ in range(_TRIES):
        brace = _BRACE.search(text, at)
        if brace is None:
            return
        try:
            value, at = read_loosely(text, brace.start())
            calls = calls_of(value, known)
        except ParseError as error:
            if _CALL_SHAPED.match(text, brace.start()):
                yield brace.start(), Calls(error=str(error))
                return
            at = brace.end()
            continue
        if calls:
            yield _begin(text, brace.start()), _with_following(text, brace.start(), calls, known)
            return


def _with_following(text: str, start: int, calls: list[WrittenAction], known: Known) -> Calls:
    """Return the calls of an object and of those that follow it with nothing between."""
    found = read_calls(text[start:], known)
    return found if found.actions else Calls(tuple(calls), found.error)


def _begin(text: str, brace: int) -> int:
    """Return where the thought before an object ends: before its fence and its bracket."""
    before = re.compile(r"(?:`{3,}+[\w+-]{0,20}\s*+|\[\s*|action\s*:\s*)*\Z", re.IGNORECASE)
    found = before.search(text, max(0, brace - 64), brace)
    return brace if found is None else found.start()
