"""The details of a model's thoughts, put together from deltas, to be sent back as they came."""

import json
from collections.abc import Mapping
from typing import Any

from agents.providers.wire.replies import ENTRY

_SAID = ("text", "summary")
"""The fields of a detail that are pieces of text."""


class Details:
    """Take details; one that goes on with the one before it is joined to it."""

    def __init__(self) -> None:
        self._details: list[_Detail] = []

    def __bool__(self) -> bool:
        return bool(self._details)

    def take(self, detail: Mapping[str, Any]) -> int:
        """Take a detail, or more of the last; return how many characters more are kept."""
        if self._details and self._details[-1].goes_on_with(detail):
            return self._details[-1].grow(detail)
        self._details.append(_Detail())
        return ENTRY + self._details[-1].grow(detail)

    @property
    def whole(self) -> list[dict[str, Any]]:
        """Return the details as they are sent back."""
        return [detail.whole for detail in self._details]


class _Detail:
    """A detail of which more may come."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}

    @property
    def whole(self) -> dict[str, Any]:
        return {**self._fields, **{name: "".join(texts) for name, texts in self._texts.items()}}

    def goes_on_with(self, more: Mapping[str, Any]) -> bool:
        is_text = any(name in self._texts and isinstance(more.get(name), str) for name in _SAID)
        return is_text and all(self._fields.get(n) == more.get(n) for n in ("type", "index"))

    def grow(self, more: Mapping[str, Any]) -> int:
        size = 0
        for name, value in more.items():
            if name in _SAID and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
                self._fields.setdefault(name, "")
                size += len(value)
            elif name not in self._texts and (
                name not in self._fields or self._fields[name] != value
            ):
                self._fields[name] = value
                size += len(name) + len(json.dumps(value, ensure_ascii=False))
        return size
