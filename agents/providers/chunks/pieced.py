"""The arguments of a call that Gemini sends in pieces, each by its path."""

import re
from itertools import pairwise
from typing import Any

MAX_PLACES = 10_000
"""The entries that one list may have; a path names a place, and nobody writes so long a call."""
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class Pieced:
    """An object that grows: `$.a[0].b` is where a piece belongs; a text goes on where it was.

    `size` is in characters: what was said, and the path of each place.
    """

    def __init__(self) -> None:
        self.size = 0
        self._value: dict[str, Any] = {}

    @property
    def value(self) -> dict[str, Any]:
        """Return the object so far; raises RecursionError for one that is nested too deep."""
        whole: dict[str, Any] = _joined(self._value)
        return whole

    def take(self, piece: dict[str, Any]) -> None:
        """Put a piece in its place; raises ValueError for a path or a value that is none."""
        kind = next((name for name in _VALUES if name in piece), None)
        path = piece["jsonPath"]
        steps = _steps(path)
        if kind is None:
            return
        holder: Any = self._value
        for step, following in pairwise(steps):
            holder = _at(holder, step, {} if isinstance(following, str) else [])
        given = None if kind == "nullValue" else piece[kind]
        there = _at(holder, steps[-1], None)
        if kind == "stringValue" and isinstance(there, _Text) and isinstance(given, str):
            there.append(given)
            self.size += len(given)
        else:
            holder[steps[-1]] = _Text([given]) if isinstance(given, str) else given
            self.size += len(path) + len(str(given))


class _Text(list[str]):
    """A text in pieces."""


def _joined(value: Any) -> Any:
    if isinstance(value, _Text):
        return "".join(value)
    if isinstance(value, dict):
        return {name: _joined(inner) for name, inner in value.items()}
    return [_joined(inner) for inner in value] if isinstance(value, list) else value


def _steps(path: str) -> list[str | int]:
    found = list(_STEP.finditer(path))
    if not found or "$" + "".join(step[0] for step in found) != path:
        raise ValueError(path)
    return [int(s[2]) if s[2] is not None else s[1] or s[3] or s[4] or "" for s in found]


def _at(holder: Any, step: str | int, empty: Any) -> Any:
    """Return what is at a step, `empty` put there if nothing is."""
    if isinstance(step, int):
        if (
            not isinstance(holder, list)
            or isinstance(holder, _Text)
            or step > min(len(holder), MAX_PLACES)
        ):
            raise ValueError(step)
        if step == len(holder):
            holder.append(empty)
        elif holder[step] is None:
            holder[step] = empty
        return holder[step]
    if not isinstance(holder, dict):
        raise ValueError(step)
    if holder.get(step) is None:
        holder[step] = empty
    return holder[step]
