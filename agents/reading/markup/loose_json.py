"""Read a JSON object that is written with quotes and keys of another kind, too.

First as `json_repair` does; then with curly quotes, with keys without quotes, with backslashes that
escape nothing, and with the marks that Gemma puts around texts. A string that never ends is an
error here as well.
"""

import json
import re

from agents.errors import ParseError
from agents.reading.json_repair import FoundObject, read_object

_LIMIT = 100_000
_CURLY = str.maketrans("\u201c\u201d\u201e\u201f\u2018\u2019", '""""\'\'')
_STRAY = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_ESCAPE = re.compile(r'\\(\\|["/bfnrt]|u[0-9a-fA-F]{4})|\\')
_MARKED = ('<|"|>', "<escape>")
_TOKEN = re.compile(
    r'<\|"\|>(?P<gemma>.*?)<\|"\|>|<escape>(?P<escape>.*?)<escape>'
    r'|(?P<string>"(?:[^"\\]++|\\.)*+")'
    r"|(?P<key>(?<=[{,\s])[^\W\d][\w.-]{0,99}+(?=\s{0,8}+:))"
    r"|(?P<mark>[{}\[\]])|(?P<other>[^<\"{}\[\]\w]++|\w++|<|\")",
    re.DOTALL,
)


def read_loosely(text: str, start: int = 0) -> FoundObject:
    """Return the object that begins with the brace at `start`; raises ParseError."""
    if any(mark in text[start : start + _LIMIT] for mark in _MARKED):
        return _requoted(text, start)
    try:
        return _certain(read_object(text, start), text)
    except ParseError as error:
        problem = error
    for read in (_in_curly_quotes, _with_lone_backslashes, _requoted):
        try:
            return read(text, start)
        except ParseError:
            continue
    raise problem


def _certain(found: FoundObject, text: str) -> FoundObject:
    """Refuse an object that breaks off right behind a number or a word, which may go on."""
    if found.end == len(text) and text[-1:].isalnum():
        raise ParseError("It breaks off within a value.")
    return found


def _in_curly_quotes(text: str, start: int) -> FoundObject:
    written = text[: start + _LIMIT]
    straight = written.translate(_CURLY)
    if straight == written:
        raise ParseError("There are no other quotes.")
    return read_object(straight, start)


def _with_lone_backslashes(text: str, start: int) -> FoundObject:
    """Read a backslash before a letter that it escapes nothing with as itself."""
    before, written = text[:start], text[start : start + _LIMIT]
    doubled = _STRAY.sub(
        lambda string: _NO_ESCAPE.sub(lambda s: s[0] if s[1] else r"\\", string[0]), written
    )
    if doubled == written:
        raise ParseError("There is no such backslash.")
    found = read_object(doubled)
    more = doubled[: found.end].count("\\") - written[: found.end].count("\\")
    end = max(0, found.end - max(0, more))
    return FoundObject(found.value, len(before) + end)


def _requoted(text: str, start: int) -> FoundObject:
    """Read the object with each text and each key between straight quotes."""
    pieces: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start, start + _LIMIT):
        kind = token.lastgroup or ""
        if kind in ("gemma", "escape"):
            pieces.append(json.dumps(token[kind]))
        elif kind == "key":
            pieces.append(json.dumps(token[0]))
        else:
            pieces.append(token[0])
        if kind == "mark":
            depth += 1 if token[0] in "{[" else -1
            if depth == 0:
                return FoundObject(read_object("".join(pieces)).value, token.end())
    raise ParseError("This is no valid JSON: it never ends.")
