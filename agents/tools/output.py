"""A tool's output, held to a size that a page, a prompt and a database row can bear."""

from collections import deque

from agents.text import storable

LIMIT = 100_000
"""Characters of one observation."""

_HEAD = 60_000
_NOTE = 100


class Output:
    """Take any amount of text and keep its head and its tail, in constant memory.

    What `add` returned, followed by what `rest` returns, is the whole kept text.
    """

    def __init__(self) -> None:
        self._total = 0
        self._tail: deque[str] = deque()
        self._tail_length = 0

    def add(self, text: str) -> str:
        """Take more text; return the part of it that belongs to the head."""
        room = max(0, _HEAD - self._total)
        self._total += len(text)
        self._hold(text[room:][-(LIMIT - _HEAD) :])
        return storable(text[:room])

    def rest(self) -> str:
        """Return what follows the head: all of it, or a line on what was cut and then the tail."""
        tail = "".join(self._tail)
        if self._total > LIMIT:
            tail = tail[-(LIMIT - _HEAD - _NOTE) :]
            cut = self._total - _HEAD - len(tail)
            tail = f"\n[{cut:,} of {self._total:,} characters are left out here]\n{tail}"
        return storable(tail)

    def _hold(self, text: str) -> None:
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length - len(self._tail[0]) >= LIMIT - _HEAD:
            self._tail_length -= len(self._tail.popleft())
