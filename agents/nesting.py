"""How JSON is nested: how deep it may be, and where an object that comes in chunks ends.

What is too deep breaks whoever walks along it level by level.
"""

import re
from typing import Any

DEEPEST = 100
"""Levels of the deepest inputs that a tool is called with."""

CUT = "[nested too deep]"
_CONTAINERS = (dict, list, tuple)
_IN_STRING, _IN_OBJECT = re.compile(r'["\\]'), re.compile(r'["{}]')


def is_too_deep(value: Any) -> bool:
    """Tell whether objects and lists stand in each other more than `DEEPEST` levels deep."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return False
    return True


def bounded(value: Any) -> Any:
    """Return the value if it is not too deep, else one that still is, by one level, and no more.

    So it can be stored and shown, and is refused wherever it is checked.
    """
    return _cut(value, DEEPEST + 1) if is_too_deep(value) else value


class Balance:
    """Follow the brackets of the first object in a text that comes in chunks."""

    def __init__(self) -> None:
        self._depth = 0
        self._has_begun = False
        self._in_string = False
        self._is_escaped = False
        self._taken = 0
        self.end: int | None = None
        """Where in the whole text the object ended, None before it has."""

    def is_complete(self, text: str) -> bool:
        """Take more of the text; tell whether the object has ended."""
        before, self._taken = self._taken, self._taken + len(text)
        at = int(self._is_escaped and bool(text))
        self._is_escaped = self._is_escaped and not text
        while mark := (_IN_STRING if self._in_string else _IN_OBJECT).search(text, at):
            char, at = mark[0], mark.end()
            if char == '"':
                self._in_string = self._has_begun and not self._in_string
            elif char == "\\":
                self._is_escaped = at == len(text)
                at += 1
            elif self._has_begun or char == "{":
                self._has_begun = True
                self._depth += 1 if char == "{" else -1
                if self._depth == 0:
                    self.end = before + at
                    return True
        return False


def _cut(value: Any, levels: int) -> Any:
    if not isinstance(value, _CONTAINERS):
        return value
    if not levels:
        return CUT
    if isinstance(value, dict):
        return {name: _cut(inner, levels - 1) for name, inner in value.items()}
    return [_cut(inner, levels - 1) for inner in value]


def _containers(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return [inner for inner in inside if isinstance(inner, _CONTAINERS)]
