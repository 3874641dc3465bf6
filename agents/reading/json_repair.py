"""Read one JSON object the way models write them: with comments, stray commas, missing braces.

Text inside a string is never touched. Nothing is guessed: what is still no JSON after that is an
error, and so is a string that never ends. Any text is read in linear time.
"""

import ast
import json
import math
import re
import warnings
from typing import Any, NamedTuple, NoReturn

from agents.errors import ParseError
from agents.nesting import DEEPEST
from agents.text import storable

_DEPTH = DEEPEST
_LITERAL_LIMIT = 20_000
_PYTHON = re.compile(r"'|\b(?:True|False|None)\b")
_PARTS = re.compile(
    r"(?P<space>[ \t\r\n]++)"
    r"|(?P<comment>//[^\n]*+)"
    r'|(?P<string>"(?:[^"\\]++|\\.)*+")'
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<scalar>[\w.+-]++)",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]"}
_AFTER_HALF = re.compile(r"\Z|```|</|<\|")
_LINE_AFTER_HALF = re.compile(r"[A-Z*#<`]")


class FoundObject(NamedTuple):
    """An object, and where in the text it ends."""

    value: dict[str, Any]
    end: int


def read_object(text: str, start: int = 0) -> FoundObject:
    """Return the object that begins with the brace at `start`.

    An object that breaks off after a complete value, at the end of the text, at a fence or at a
    line of prose, is closed there. Raises ParseError saying what is wrong.
    """
    try:
        mender = _Mender()
        end = mender.read(text, start)
        return FoundObject(_loaded("".join(mender.copied)), end)
    except ParseError:
        found = _literal(text, start)
        if found is None:
            raise
        return found


def _loaded(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, strict=False, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"This is no valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ParseError("This is no JSON object.")
    return {storable(name): _kept(item) for name, item in value.items()}


def _literal(text: str, start: int) -> FoundObject | None:
    """Return the object that a model wrote as Python would, with its quotes and constants."""
    end = text.rfind("}", start, start + _LITERAL_LIMIT) + 1
    written = text[start:end]
    if not _PYTHON.search(written):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # an odd backslash is the model's slip
            value = ast.literal_eval(written)
        return FoundObject(_loaded(json.dumps(value, allow_nan=False)), end)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, ParseError):
        return None


class _Mender:
    """Copy one object with its commas and brackets put right."""

    def __init__(self) -> None:
        self.copied: list[str] = []
        self._open: list[str] = []
        self._has_value = False
        self._has_comma = False

    def read(self, text: str, start: int) -> int:
        """Copy the object at `start`; return where it ends."""
        at, is_new_line = start, False
        while part := _PARTS.match(text, at):
            kind, said = part.lastgroup, part[0]
            if kind in ("space", "comment"):
                is_new_line = is_new_line or "\n" in said
            elif kind != "mark" and self._breaks_off(text, at, is_new_line):
                break
            else:
                self._take(said)
                is_new_line = False
            at = part.end()
            if self.copied and not self._open:
                return at
        if not self._has_value or not self._may_break_off(text, at, is_new_line):
            raise ParseError(f"This is no valid JSON from {text[at : at + 20]!r} on.")
        self.copied.extend(reversed(self._open))
        return at

    def _breaks_off(self, text: str, at: int, is_new_line: bool) -> bool:
        """Tell whether a string or a scalar is no part of the object."""
        if not self._has_value:
            return False
        return not self._has_comma or self._may_break_off(text, at, is_new_line)

    def _may_break_off(self, text: str, at: int, is_new_line: bool) -> bool:
        """Tell whether a half object ends here, and not a value with something wrong in it."""
        if is_new_line and not self._has_comma and _LINE_AFTER_HALF.match(text, at):
            return True
        return _AFTER_HALF.match(text, at) is not None

    def _take(self, said: str) -> None:
        if said in ("}", "]"):
            self._close(said)
            return
        if self._has_comma:
            self.copied.append(",")
        self._has_comma = said == ","
        if self._has_comma:
            return
        self.copied.append(said)
        if said in _CLOSING:
            self._open.append(_CLOSING[said])
            if len(self._open) > _DEPTH:
                raise ParseError(f"This is nested more than {_DEPTH} levels deep.")
        self._has_value = said not in ("{", "[", ":")

    def _close(self, said: str) -> None:
        """Close what is open up to this bracket, a comma before it left out."""
        if said not in self._open:
            raise ParseError(f"This is no valid JSON: {said} closes nothing.")
        self._has_comma = False
        self._has_value = True
        while (closing := self._open.pop()) != said:
            self.copied.append(closing)
        self.copied.append(said)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


def _kept(value: object) -> object:
    """Return a JSON value with texts that every database and socket takes."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(name)): _kept(item) for name, item in value.items()}
        case list():
            return [_kept(item) for item in value]
        case _:
            return value
