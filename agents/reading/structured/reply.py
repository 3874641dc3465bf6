"""Show a structured reply while it streams, its thought and its answer, and hold what it says."""

from collections.abc import Callable, Collection, Iterator

from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.json_stream import ObjectReader
from agents.reading.markup.marks import begins_call
from agents.reading.structured.parse import Structured, parse_structured
from agents.reading.trimmed import Trimmed
from agents.text import storable

_THOUGHTS = ("thought", "thinking", "reasoning")
_TOOL, _RESULT = "action.tool", "action.parameters.result"


class StructuredReader:
    """Take the pieces of a reply; `thought` and `answer` are what has been shown of it.

    A thought in JSON is shown as it comes, any other when the reply is complete. So is the result
    of an action whose tool `answers`, if the tool is named first. `done` becomes true at the
    object's end.
    """

    def __init__(
        self, tools: Collection[str], answers: Callable[[str], bool] = lambda tool: False
    ) -> None:
        self.reply = Structured()
        self._tools = tools
        self._answers = answers
        self._object = ObjectReader(*_THOUGHTS, _TOOL, _RESULT)
        self._tool: list[str] = []
        self._is_answer = False
        self._answer = Trimmed()
        self._field = ""
        self._raw: list[str] = []
        self._shown = Trimmed()
        self._is_aloud = False
        self._is_marked: bool | None = None

    @property
    def done(self) -> bool:
        """Tell whether nothing that follows can matter; in a family's markup, more calls may."""
        if self._object.done and self._is_marked is None:
            self._is_marked = begins_call(self.raw)
        return self._object.done and not self._is_marked

    @property
    def raw(self) -> str:
        """Return the reply as it came."""
        return "".join(self._raw)

    @property
    def thought(self) -> str:
        """Return what has been shown."""
        return self._shown.text

    @property
    def answer(self) -> str:
        """Return what has been shown of the answer."""
        return self._answer.text

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Take what a reasoning model says to itself; it is shown as thought."""
        self._is_aloud = True
        yield from self._show(storable(text))

    def feed(self, chunk: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take more of the reply; yield what it shows."""
        self._raw.append(chunk)
        for field in self._object.feed(chunk):
            if field.name == _TOOL:
                self._tool.append(field.text)
                self._is_answer = field.is_end and self._answers("".join(self._tool).strip())
            elif field.name == _RESULT:
                if self._is_answer and (shown := self._answer.add(field.text)):
                    yield AnswerDelta(text=shown)
            elif field.text:
                self._field = self._field or field.name
                if field.name == self._field:
                    yield from self._say(field.text)

    def finish(self, *, is_cut: bool = False) -> Iterator[ThoughtDelta]:
        """Take the reply as complete; yield a thought that could not be shown before."""
        self.reply = parse_structured(self.raw, self._tools)
        if not self._field and self.reply.thought:
            yield from self._say(self.reply.thought)

    def _say(self, text: str) -> Iterator[ThoughtDelta]:
        if self._is_aloud:
            self._is_aloud = False
            self._shown.separate("\n\n")
        yield from self._show(text)

    def _show(self, text: str) -> Iterator[ThoughtDelta]:
        if shown := self._shown.add(text):
            yield ThoughtDelta(text=shown)
