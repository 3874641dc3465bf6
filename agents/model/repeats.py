"""A reply that says the same again and again, as small models do: noticed, so that it ends.

A text repeats itself where its end is one unit over and over: 4,000 characters of a unit of at most
250, or 10,000 of one of at most 2,000. What people and models repeat for a reason is no such text:
units without a word (numbers, cells, rules) do not count at all, and those of one word, as lists of
`null`, only at 10,000. Blank space counts at 4,000.
"""

import re
from typing import NamedTuple

REPEATS = "repeats"
"""The stop reason of a reply that is cut for it."""

_LOOK_AGAIN = 500
"""Characters that come between two looks."""
_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,}")


class _Window(NamedTuple):
    """So many characters at the end, of a unit of at most so many, with so many words in it."""

    size: int
    longest: int
    words: int


_WINDOWS = (_Window(4_000, 250, 2), _Window(10_000, 2_000, 1))


class Repeats:
    """Follow one text; the work grows with the text and no faster."""

    def __init__(self) -> None:
        self._end = ""
        self._new: list[str] = []
        self._size = 0

    def has_begun(self, text: str) -> bool:
        """Take more of the text; tell whether by now it only repeats itself."""
        self._new.append(text)
        self._size += len(text)
        if self._size < _LOOK_AGAIN:
            return False
        self._end = (self._end + "".join(self._new))[-_WINDOWS[-1].size :]
        self._new, self._size = [], 0
        return any(_is_repeated(self._end[-window.size :], window) for window in _WINDOWS)


def _is_repeated(end: str, window: _Window) -> bool:
    if len(end) < window.size:
        return False
    # The text without its last characters stands again one unit later.
    unit = end.find(end[: -window.longest], 1)
    if unit < 1 or end[unit:] != end[:-unit]:
        return False
    said = end[-unit:]
    # One unit more has so many words more, wherever in a word it begins.
    words = len(_WORD.findall(said * 3)) - len(_WORD.findall(said * 2))
    return not said.strip() or words >= window.words
