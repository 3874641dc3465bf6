"""The native calls of one reply, put together from the pieces in which servers send them.

Servers differ in what they name a call by: its place, its id, both in each piece or only in the
first, or nothing. Some give two calls the same place, some say a name or all arguments again.
"""

import json
from collections.abc import Mapping
from typing import Any

from agents.nesting import Balance
from agents.providers.base import UNFIT, CallDelta, NativeCall, inputs_of

NAMESPACES = ("functions.", "default_api.")
"""What OpenAI's and Gemini's models put before a name as they have learnt it."""
_A_FEW = 16
"""The characters that are looked at again with each piece: an empty object, and space around it."""
_LONGEST_PLACE = 100


class NativeCalls:
    """Take the pieces of calls, and say in the end which calls they are."""

    def __init__(self) -> None:
        self._calls: list[_Begun] = []
        self._by_place: dict[object, _Begun] = {}
        self._by_id: dict[str, _Begun] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def take(
        self, place: object = None, name: object = None, arguments: Any = None, call_id: Any = None
    ) -> CallDelta | None:
        """Take one piece; return what is new in it, None where that is nothing.

        `arguments` is more of them as text, or all of them as a value.
        """
        text = _text(arguments)
        given = _named(name)
        known = str(call_id) if isinstance(call_id, str | int) else ""
        there = _place(place)
        call = self._begun_by(there, known, given, text) or self._begin(there)
        call.id, call.name = call.id or known, call.name or given
        if call.id:
            self._by_id.setdefault(call.id, call)
        if not (text := call.grow(text)) and not given:
            return None
        return CallDelta(index=call.index, name=call.name, text=text)

    def keep(self, item: Mapping[str, Any]) -> None:
        """Keep what the server wants back with the call that came last."""
        if self._calls:
            self._calls[-1].kept.append(dict(item))

    def whole(self, kept: list[dict[str, Any]]) -> list[NativeCall]:
        """Return the calls in their order, the first with what is kept of the reply as a whole."""
        return [
            NativeCall(
                index=call.index,
                id=call.id or f"call_{call.index + 1}",
                name=call.name,
                arguments=call.arguments,
                kept=(*(kept if call.index == 0 else ()), *call.kept),
            )
            for call in self._calls
        ]

    def _begun_by(self, place: object, call_id: str, name: str, text: str) -> "_Begun | None":
        """Return the call that the piece goes on with, None where it begins another."""
        here = self._by_place.get(place)
        if call_id:
            is_named_later = here is not None and not here.id
            return self._by_id.get(call_id) or (here if is_named_later else None)
        if not self._calls:
            return None
        last = here or self._calls[-1]
        if not name:
            return last if here or not text or not last.is_whole else None
        is_other_place = place is not None and here is None
        if is_other_place or (last.name and last.name != name) or (text and last.is_whole):
            return None
        return last

    def _begin(self, place: object) -> "_Begun":
        call = _Begun(len(self._calls))
        self._calls.append(call)
        if place is not None:
            self._by_place[place] = call
        return call


class _Begun:
    """A call of which more may come."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = self.name = ""
        self.kept: list[dict[str, Any]] = []
        self._begin_arguments()

    def _begin_arguments(self) -> None:
        self._texts: list[str] = []
        self._size = 0
        self._balance = Balance()

    @property
    def arguments(self) -> str:
        return "".join(self._texts)

    @property
    def is_whole(self) -> bool:
        """Tell whether the arguments have ended: what came in one piece is read, once."""
        if len(self._texts) == 1:
            return inputs_of(self._texts[0]) is not None
        return self._balance.end is not None

    def grow(self, text: str) -> str:
        """Take more of the arguments; return what is new, for some servers say all of it again."""
        if text[:1] == "{" and 0 < self._size <= max(len(text), _A_FEW):
            so_far = self.arguments
            if text.startswith(so_far) and so_far[:1] == "{":
                text = text[len(so_far) :]
            elif so_far.strip() == "{}":
                self._begin_arguments()
        if text:
            self._texts.append(text)
            self._size += len(text)
            if self._balance.end is None:
                self._balance.is_complete(text)
        return text


def _text(arguments: Any) -> str:
    if arguments is None:
        return ""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return UNFIT.sub("\ufffd", text)


def _named(name: object) -> str:
    text = UNFIT.sub("\ufffd", name).strip() if isinstance(name, str) else ""
    return next((text.removeprefix(space) for space in NAMESPACES if text.startswith(space)), text)


def _place(place: object) -> object:
    """Return a place as it is compared: some servers write the number as text."""
    if isinstance(place, str):
        text = place[:_LONGEST_PLACE]
        return int(text) if text.isdecimal() else text
    return place if isinstance(place, int | float) else None
