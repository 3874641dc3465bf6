"""Read a reply that is all answer: without thoughts, labels, marks and calls of tools."""

import re
from collections.abc import Callable, Iterable, Iterator

from agents.events import AnswerDelta, Event, ThoughtDelta
from agents.reading.action_reply import ActionReader
from agents.reading.markup.all_said import AllSaid, Aloud
from agents.reading.markup.marks import certain_end, without_begin_marks
from agents.reading.markup.reader import MarkedReader
from agents.reading.markup.shapes import Known
from agents.reading.trimmed import Trimmed

_LABEL = re.compile(
    r"\A\s*(?:[*_]{0,3}(?:(?:final[ _-]?)?answer|thought)[*_]{0,3}[ \t]?[:\uff1a][*_]{0,3}"
    r"|(?:\#{1,3}[ \t]|[*_]{2,3})final[ _-]?answer[*_]{0,3}[ \t]*\n)\s*",
    re.IGNORECASE,
)
Show = Callable[[str], Event]
"""Makes an event of a piece of text."""

_AHEAD = 40
_CALL = re.compile(
    r"\{\s*+[\"'](?:tool|tool_name|name|action|function|tool_calls|arguments|kind|recipient_name)[\"']",
    re.IGNORECASE,
)


def no_tool(name: str) -> bool:
    """Say of every name that it is no tool's: none can be called any more."""
    return False


class AnswerReader:
    """Show a reply as it comes; `said` is the answer in it, `thought` what was thought aloud.

    What begins like a call is held back, and left out where it is one: `has_call` tells so. Once
    something was said, nothing is a thought any more. `think` shows thoughts, where they are shown.
    """

    def __init__(
        self,
        show: Show,
        think: Show | None = None,
        *,
        known: Known = no_tool,
        thinks_first: bool | None = None,
    ) -> None:
        self.said, self.thought = Trimmed(), Trimmed()
        self._show, self._think = show, think
        self._has_tools = known is not no_tool
        self._form = AllSaid()
        self._reader = MarkedReader(self._made, known, thinks_first=thinks_first)
        self._unlabelled: list[str] = []
        self._held, self._begin = "", ""
        self._is_last = False
        self._hidden: list[str] = []
        self._before: type[Event] | None = None

    @property
    def done(self) -> bool:
        """Tell whether nothing that follows can matter."""
        return self._reader.done

    @property
    def has_call(self) -> bool:
        """Tell whether the reply is a call of a tool, or was meant for one."""
        reading = self._reader.reading
        return bool(reading.actions or reading.error)

    def think_aloud(self, text: str) -> Iterator[Event]:
        """Take what a reasoning model says to itself."""
        yield from self._shown(self._reader.think_aloud(text))

    def feed(self, chunk: str) -> Iterator[Event]:
        """Take more of the reply; yield what it shows."""
        yield from self._shown(self._reader.feed(chunk))

    def finish(self, *, is_cut: bool) -> Iterator[Event]:
        """Take the reply as complete; yield what was held back."""
        yield from self._shown(self._reader.finish())
        self._is_last = True
        yield from self._said("")
        reading = self._reader.reading
        held, self._held = "".join([*self._hidden, self._held]), ""
        if self.has_call:
            return
        is_answer = bool(reading.answer) and not self.said
        if not is_answer and (self.said or reading.prose or not self._has_tools):
            yield from self._said(held)
        if not self.said:
            yield from self._said(reading.answer or reading.prose or self._unlabelled_answer)

    @property
    def _unlabelled_answer(self) -> str:
        """Return what stands behind the label of a thought, where no step could be meant."""
        return "" if self._has_tools else "".join(self._unlabelled)

    def _made(self) -> ActionReader:
        """Begin to read: what was said before turned out to be thought."""
        self._form = AllSaid()
        self.said, self._held, self._hidden, self._unlabelled = Trimmed(), "", [], []
        self._begin = ""
        return self._form

    def _shown(self, events: Iterable[ThoughtDelta | AnswerDelta]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Aloud):
                yield from self._aloud(event.text)
            elif isinstance(event, AnswerDelta):
                yield from self._answer(event.text)
            elif self._form.names_itself:
                self._unlabelled.append(event.text)
            else:
                yield from self._unlabelled_text(event.text)

    def _aloud(self, text: str) -> Iterator[Event]:
        if self._think is not None and not self.said and (shown := self.thought.add(text)):
            yield self._think(shown)

    def _answer(self, text: str) -> Iterator[Event]:
        """Show what stands behind the label of an answer, and what stood before it, if it did."""
        if self._before is ThoughtDelta and self.said:
            yield from self._said("".join([*self._hidden, self._held, "\n\n"]))
            self._held, self._hidden = "", []
        self._before = AnswerDelta
        yield from self._said(text)

    def _unlabelled_text(self, text: str) -> Iterator[Event]:
        """Show text without a label, held back from where it begins like a call."""
        self._before = ThoughtDelta
        if self._hidden:
            self._hidden.append(text)
            return
        text, at = self._held + text, 0
        self._held = ""
        while (brace := text.find("{", at)) >= 0:
            if len(text) - brace < _AHEAD:
                self._held, text = text[brace:], text[:brace]
                break
            is_all = self._has_tools and not (self.said or text[:brace].strip())
            if is_all or _CALL.match(text, brace):
                self._hidden, text = [text[brace:]], text[:brace]
                break
            at = brace + 1
        yield from self._said(text)

    def _said(self, text: str) -> Iterator[Event]:
        if not self.said:
            text, self._begin = self._begin + text, ""
            while (bare := _LABEL.sub("", without_begin_marks(text))) != text:
                text = bare
            if not self._is_last and not certain_end(text, 0):
                self._begin, text = text, ""
        if text and (shown := self.said.add(text)):
            yield self._show(shown)
