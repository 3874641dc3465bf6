"""Read one reasoning node, a JSON object {kind, text}, while it streams."""

from collections.abc import Iterator

from agents.contracts import Thought, ThoughtKind
from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.json_stream import ObjectReader
from agents.reading.trimmed import Trimmed

UNREADABLE = "Continuing reasoning to determine next step."


class NodeReader:
    """Show a node's text while it streams, once its kind is known, and hold the node in the end.

    `done` becomes true at the object's end.
    """

    def __init__(self) -> None:
        self._object = ObjectReader("kind", "text")
        self._name: list[str] = []
        self._kind: ThoughtKind | None = None
        self._text = Trimmed()
        self._waiting: list[str] = []

    @property
    def done(self) -> bool:
        """Tell whether nothing that follows can matter."""
        return self._object.done

    @property
    def node(self) -> Thought:
        """Return what has been read; a plain thought where that is no node."""
        text = self._text.text
        if self._kind is None or not text:
            return Thought(kind=ThoughtKind.THOUGHT, text=UNREADABLE)
        if self._kind is ThoughtKind.FINAL:
            return Thought(kind=self._kind, text="", answer=text)
        return Thought(kind=self._kind, text=text)

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Show nothing of what a reasoning model says to itself."""
        return iter(())

    def feed(self, chunk: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take more of the reply; yield what it shows."""
        for field in self._object.feed(chunk):
            if field.name == "text":
                self._waiting.append(field.text)
            else:
                self._name.append(field.text)
                self._kind = _kind("".join(self._name)) if field.is_end else None
            if self._kind is not None:
                yield from self._show(self._kind)

    def finish(self, *, is_cut: bool = False) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take the reply as complete, also where its object does not end."""
        self._kind = self._kind or _kind("".join(self._name))
        if self._kind is not None:
            yield from self._show(self._kind)

    def _show(self, kind: ThoughtKind) -> Iterator[ThoughtDelta | AnswerDelta]:
        shown = self._text.add("".join(self._waiting))
        self._waiting.clear()
        if shown and kind is ThoughtKind.FINAL:
            yield AnswerDelta(text=shown)
        elif shown:
            yield ThoughtDelta(text=shown)


def _kind(name: str) -> ThoughtKind | None:
    """Return the kind that the model means by `name`, None for none of ours."""
    plain = name.strip().casefold()
    return ThoughtKind(plain) if plain in list(ThoughtKind) else None
