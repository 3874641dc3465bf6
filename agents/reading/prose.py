"""Read replies that are plain text: shown as they come, or kept for who reads them at the end."""

from collections.abc import Callable, Iterator

from agents.events import Event
from agents.reading.thinking import ThinkingReader, part_thinking
from agents.reading.trimmed import Trimmed
from agents.text import storable

Show = Callable[[str], Event]
"""Makes an event of a piece of text."""


class Prose:
    """Show what a reply says, and what is thought aloud before it where `think` is given.

    Once something was said, nothing is a thought any more.
    """

    done = False

    def __init__(self, show: Show, think: Show | None = None) -> None:
        self.said, self.thought = Trimmed(), Trimmed()
        self._show, self._think = show, think
        self._thinking = ThinkingReader()

    def think_aloud(self, text: str) -> Iterator[Event]:
        """Take what a reasoning model says to itself."""
        yield from self._shown(True, storable(text))

    def feed(self, chunk: str) -> Iterator[Event]:
        """Take more of the reply; yield what it shows."""
        for piece in self._thinking.feed(storable(chunk)):
            yield from self._shown(*piece)

    def finish(self, *, is_cut: bool) -> Iterator[Event]:
        """Take the reply as complete; yield what was held back."""
        for piece in self._thinking.finish():
            yield from self._shown(*piece)

    def _shown(self, is_thought: bool, text: str) -> Iterator[Event]:
        if not is_thought:
            if shown := self.said.add(text):
                yield self._show(shown)
        elif self._think is not None and not self.said and (shown := self.thought.add(text)):
            yield self._think(shown)


class Whole:
    """Keep a reply; `said` is all of it but for what is thought aloud."""

    done = False

    def __init__(self) -> None:
        self._parts: list[str] = []

    @property
    def said(self) -> str:
        """Return what was said."""
        return part_thinking("".join(self._parts)).said

    def think_aloud(self, text: str) -> Iterator[Event]:
        """Keep nothing of it."""
        return iter(())

    def feed(self, chunk: str) -> Iterator[Event]:
        """Keep more of the reply."""
        self._parts.append(chunk)
        return iter(())

    def finish(self, *, is_cut: bool) -> Iterator[Event]:
        """Take the reply as complete."""
        return iter(())
