"""Read the fields of a JSON object out of a reply while it streams.

The object may stand in a fence, in prose or after `<think>`, may hold raw newlines and unescaped
quotes, and need not end well. No character is looked at more than a few times.
"""

from collections.abc import Generator
from itertools import groupby
from typing import NamedTuple

from agents.text import storable

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SPACE = " \t\r\n"
_HEX = frozenset("0123456789abcdefABCDEF")
_SCALAR_LIMIT = 100
_UNKNOWN = "\ufffd"

_Chars = Generator[None, str, None]
_Char = Generator[None, str, str]


class Field(NamedTuple):
    """More text of a field; `is_end` when its value is complete."""

    name: str
    text: str
    is_end: bool = False


class ObjectReader:
    """Yield the wanted string fields of the first object in a reply that has one of them.

    A field of an object within it is wanted as `outer.inner`; such a one alone is not what makes
    an object the right one. `done` becomes true at that object's end. Of a field that occurs twice
    the first counts.
    """

    def __init__(self, *wanted: str) -> None:
        self.done = False
        self._wanted = frozenset(wanted)
        self._outer = frozenset(
            name[:at] for name in wanted for at, char in enumerate(name) if char == "."
        )
        self._seen: set[str] = set()
        self._found: list[Field] = []
        self._back = ""
        self._high = ""
        self._chars = self._reply()
        next(self._chars)

    def feed(self, chunk: str) -> list[Field]:
        """Take more of the reply; return what it adds to the wanted fields."""
        for char in chunk:
            if self.done:
                break
            self._chars.send(char)
        found, self._found = self._found, []
        return _joined(found)

    def _reply(self) -> _Chars:
        while True:
            yield from self._prose()
            yield from self._object()
            self.done = any("." not in name for name in self._seen)

    def _prose(self) -> _Chars:
        """Read up to the next object, past anything a model thinks aloud."""
        tail, thinks = "", False
        while True:
            char = yield from self._next()
            tail = (tail + char.lower())[-len("</think>") :]
            if tail.endswith("<think>"):
                thinks = True
            elif tail == "</think>":
                thinks = False
            elif char == "{" and not thinks:
                return

    def _object(self) -> _Chars:
        while True:
            char = yield from self._next_but_space()
            if char in ",{":
                continue
            if char != '"':
                return
            key = yield from self._key()
            if (yield from self._next_but_space()) != ":":
                return
            yield from self._value(key)

    def _inner_object(self, outer: str) -> _Chars:
        """Read the fields of an object within the object; skip what cannot be read of it."""
        while True:
            char = yield from self._next_but_space()
            if char == ",":
                continue
            if char == '"':
                key = yield from self._key()
                char = yield from self._next_but_space()
                if char == ":":
                    yield from self._value(f"{outer}.{key}")
                    continue
            if char != "}":
                self._back = char
                yield from self._nested()
            return

    def _key(self) -> _Char:
        letters: list[str] = []
        while (char := (yield from self._next())) != '"':
            if len(letters) < _SCALAR_LIMIT:
                letters.append(char)
        return "".join(letters).strip().lower()

    def _value(self, path: str) -> _Chars:
        name = path if path in self._wanted and path not in self._seen else ""
        self._seen.update({name} - {""})
        char = yield from self._next_but_space()
        if char == '"' and not name and "." in path:
            yield from self._nested_string()
        elif char == '"':
            yield from self._string(name)
        elif char == "{" and path in self._outer:
            yield from self._inner_object(path)
        elif char in "{[":
            yield from self._nested()
        else:
            yield from self._scalar(name, char)
        if name:
            self._found.append(Field(name, "", is_end=True))

    def _string(self, name: str) -> _Chars:
        while True:
            char = yield from self._next()
            if char == '"':
                space = yield from self._space()
                if self._back in ",}]":
                    self._end_pair(name)
                    return
                self._say(name, f'"{space}')
            elif char == "\\":
                self._say(name, (yield from self._escaped()))
            else:
                self._say(name, char)

    def _escaped(self) -> _Char:
        char = yield from self._next()
        if char != "u":
            return _ESCAPES.get(char, char)
        digits = ""
        while len(digits) < 4:
            digit = yield from self._next()
            if digit not in _HEX:
                self._back = digit
                return _UNKNOWN
            digits += digit
        return chr(int(digits, 16))

    def _scalar(self, name: str, char: str) -> _Chars:
        letters: list[str] = []
        while char not in ",}\n":
            if len(letters) < _SCALAR_LIMIT:
                letters.append(char)
            char = yield from self._next()
        self._back = char
        text = "".join(letters).strip()
        self._say(name, "" if text in ("null", "true", "false") else text)

    def _nested(self) -> _Chars:
        depth = 1
        while depth:
            char = yield from self._next()
            if char == '"':
                yield from self._nested_string()
            depth += (char in "{[") - (char in "}]")

    def _nested_string(self) -> _Chars:
        while (char := (yield from self._next())) != '"':
            if char == "\\":
                yield from self._next()

    def _space(self) -> _Char:
        """Read space and put back what follows it."""
        space: list[str] = []
        while (char := (yield from self._next())) in _SPACE:
            space.append(char)
        self._back = char
        return "".join(space)

    def _next_but_space(self) -> _Char:
        while (char := (yield from self._next())) in _SPACE:
            pass
        return char

    def _next(self) -> _Char:
        if self._back:
            char, self._back = self._back, ""
            return char
        return (yield)

    def _say(self, name: str, text: str) -> None:
        """Add to a field; the two halves of a surrogate pair become one character."""
        for char in text:
            if self._high and "\udc00" <= char <= "\udfff":
                pair, self._high = self._high + char, ""
                self._add(name, pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
            else:
                self._end_pair(name)
                if "\ud800" <= char <= "\udbff":
                    self._high = char
                else:
                    self._add(name, storable(char))

    def _end_pair(self, name: str) -> None:
        if self._high:
            self._high = ""
            self._add(name, _UNKNOWN)

    def _add(self, name: str, text: str) -> None:
        if name:
            self._found.append(Field(name, text))


def _joined(found: list[Field]) -> list[Field]:
    """Put neighbouring texts of one field together."""
    joined: list[Field] = []
    for (name, is_end), fields in groupby(found, key=lambda field: (field.name, field.is_end)):
        joined.append(Field(name, "".join(field.text for field in fields), is_end))
    return joined
