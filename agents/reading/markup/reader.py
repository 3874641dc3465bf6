"""Read a reply of any model while it streams: its marks here, all else by the format's own reader.

What stands between marks of thinking is thought; what begins like a call in a family's markup is
gathered to the reply's end and read there. Where a reply turns out to have begun within a thought,
for its template opened one, nothing before the closing mark counts: it is read anew from there.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum, auto

from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.markup.conclusion import Reading, concluded
from agents.reading.markup.form import FormReader, Shown
from agents.reading.markup.marks import MARK, MESSAGE, certain_end
from agents.reading.markup.shapes import Known
from agents.text import storable

_ANSWER = "\nFinal Answer: "
_HEADER = 200
_AHEAD = 24
_NO_ANSWER = ("thought", "action", "observation", "final", "**", "{", "[", "<", "`", "#")


class _Mode(Enum):
    SAID = auto()
    THOUGHT = auto()
    CALLS = auto()
    HEADER = auto()
    AHEAD = auto()
    OVER = auto()


class MarkedReader:
    """Yield what can be shown of a reply while it streams, and hold what it comes to in the end.

    `make` gives the reader of the form that was asked for, `known` tells the names of tools. While
    it is not known (None) whether a model `thinks_first`, the reply is read to its end whatever it
    says, for a mark that closes a thought may follow; `thought_first` tells whether one did. Of a
    model that does, all is thought up to that mark; without one it was a reply like any other.
    """

    def __init__(
        self, make: Callable[[], FormReader], known: Known, *, thinks_first: bool | None = None
    ) -> None:
        self.thought_first = False
        self.reading = Reading()
        self._make, self._known = make, known
        self._form = make()
        self._waits, self._is_assumed = thinks_first is None, bool(thinks_first)
        self._mode = _Mode.THOUGHT if thinks_first else _Mode.SAID
        self._depth, self._is_channel = int(self._is_assumed), False
        self._pending = ""
        self._said: list[str] = []
        self._raw: list[str] = []
        self._calls: list[str] = []
        self._held = ""
        self._aloud: list[str] = []
        self._shown: list[str] = []
        self._is_new_line = True

    @property
    def done(self) -> bool:
        """Tell whether nothing that follows can matter."""
        return self._mode is _Mode.OVER or (self._form.done and not self._waits)

    def think_aloud(self, text: str) -> Iterator[Shown]:
        """Take what a reasoning model says to itself; it is shown as thought."""
        self._waits = False
        if self._is_assumed and not self._raw:
            self._end_thought()
        yield from self._kept(self._think(text))

    def feed(self, chunk: str) -> Iterator[Shown]:
        """Take more of the reply; yield what it shows."""
        if not self.done:
            yield from self._kept(self._read(self._pending + storable(chunk), is_last=False))

    def finish(self, *, is_cut: bool = False) -> Iterator[Shown]:
        """Take the reply as complete; yield what was held back, and read what was gathered."""
        rest, self._pending = self._pending, ""
        yield from self._kept(self._read(rest, is_last=True))
        if self._is_assumed and not is_cut:
            yield from self._kept(self._read_as_said())
        yield from self._end_ahead()
        yield from self._form.finish(is_cut=is_cut and not self._calls)
        said, calls, aloud = ("".join(each) for each in (self._said, self._calls, self._aloud))
        reading = concluded(self._form.reply, said, calls, aloud, self._known, is_cut=is_cut)
        self.reading = replace(reading, aloud=aloud.strip())
        self._mode = _Mode.OVER

    def _kept(self, events: Iterator[Shown]) -> Iterator[Shown]:
        """Yield the events, and remember which thought was shown."""
        for event in events:
            if isinstance(event, ThoughtDelta):
                self._shown.append(event.text)
            yield event

    def _read(self, text: str, *, is_last: bool) -> Iterator[Shown]:
        at, end = 0, len(text)
        while self._mode is not _Mode.OVER and (mark := MARK.search(text, at)) is not None:
            if not is_last and mark.end() == len(text) and mark[0].startswith("<|channel>"):
                end = mark.start()  # a line break that follows belongs to it
                break
            yield from self._take(text[at : mark.start()])
            yield from self._meet(mark.lastgroup or "", mark[0])
            at = mark.end()
        end = len(text) if is_last else min(end, certain_end(text, at))
        self._pending = text[end:]
        yield from self._take(text[at:end])

    def _read_as_said(self) -> Iterator[Shown]:
        """Read again what was taken for the thought that this reply does not begin with."""
        text, self._raw, self._aloud = "".join(self._raw), [], []
        self._end_thought()
        self._form = self._make()
        for event in self._read(text, is_last=True):
            if isinstance(event, AnswerDelta):
                yield event

    def _take(self, text: str) -> Iterator[Shown]:
        """Take text that holds no mark."""
        if not text:
            return
        match self._mode:
            case _Mode.SAID:
                yield from self._say(text)
            case _Mode.THOUGHT:
                yield from self._think(text)
            case _Mode.CALLS:
                self._gather(text)
            case _Mode.HEADER:
                yield from self._read_header(text)
            case _Mode.AHEAD:
                self._held += text
                if len(self._held.strip()) >= _AHEAD or len(self._held) > _HEADER:
                    yield from self._answer()

    def _meet(self, kind: str, mark: str) -> Iterator[Shown]:
        """Let a mark say what begins or ends."""
        yield from self._end_ahead()
        if self._mode is _Mode.THOUGHT:
            yield from self._meet_in_thought(kind, mark)
        elif kind == "close" and self._waits:
            yield from self._begin_anew()
        elif kind == "end":
            self._mode = _Mode.OVER
        elif self._mode is _Mode.HEADER:
            yield from self._read_header(mark)
        elif self._mode is _Mode.CALLS:
            self._gather(mark)
        elif self._form.takes_marks:
            yield from self._begin(kind, mark)
        else:
            yield from self._meet_in_step(kind, mark)

    def _meet_in_step(self, kind: str, mark: str) -> Iterator[Shown]:
        """Keep a mark as text where it stands in an action, or in an answer and is none of it."""
        if self._form.takes_inputs:
            if kind == "open" and self._is_at_line():
                self._mode, self._depth, self._waits = _Mode.THOUGHT, 1, False
            else:
                yield from self._say(mark)
        elif kind == "final":
            yield from self._say(mark if self._form.knows_final_marks else "")
        elif kind not in ("noise", "close", "header"):
            yield from self._say(mark)

    def _meet_in_thought(self, kind: str, mark: str) -> Iterator[Shown]:
        if self._is_channel:
            if kind in ("header", "end") or mark.lower() == "<|end|>":
                self._end_thought()
            if kind == "header":
                self._begin_header(mark)
        elif kind == "close":
            self._depth -= 1
            if not self._depth:
                self.thought_first = self._is_assumed
                self._end_thought()
        elif kind == "open":
            is_begin = self._is_assumed and not any(part.strip() for part in self._raw)
            self._depth += not is_begin
            self._is_assumed = self._is_assumed and not is_begin
        elif kind not in ("noise", "end"):
            yield from self._think(mark)

    def _begin(self, kind: str, mark: str) -> Iterator[Shown]:
        """Begin what a mark opens outside of actions and answers."""
        match kind:
            case "open":
                self._mode, self._depth, self._waits = _Mode.THOUGHT, 1, False
            case "call":
                self._mode = _Mode.CALLS
                self._gather(mark)
            case "answer":
                self._mode = _Mode.AHEAD
            case "header":
                self._begin_header(mark)
            case "final" if self._form.knows_final_marks:
                yield from self._say(mark)
            case "final":
                yield from self._say("\n" if mark.startswith("</") else _ANSWER)

    def _gather(self, text: str) -> None:
        self._calls.append(text)
        self._raw.append(text)

    def _begin_header(self, mark: str) -> None:
        self._mode, self._held, self._waits = _Mode.HEADER, mark, False

    def _read_header(self, text: str) -> Iterator[Shown]:
        """Read whom one of Harmony's messages is for; what is too long for that is text."""
        self._held += text
        if MESSAGE.fullmatch(text):
            yield from self._end_header()
        elif len(self._held) > _HEADER:
            held, self._held, self._mode = self._held, "", _Mode.SAID
            yield from self._say(held)

    def _end_header(self) -> Iterator[Shown]:
        header, self._held, self._mode = self._held, "", _Mode.SAID
        if "to=" in header:
            self._mode = _Mode.CALLS
            self._gather(header)
        elif "final" in header:
            yield from self._say(_ANSWER)
        elif "user" in header or "system" in header:
            self._mode = _Mode.OVER
        else:
            self._mode, self._is_channel = _Mode.THOUGHT, True

    def _begin_anew(self) -> Iterator[Shown]:
        """Take all that came as thought: the reply began in the middle of one."""
        self.thought_first, self._waits = True, False
        self._form, self._mode = self._make(), _Mode.SAID
        self._aloud = self._raw
        events = list(self._form.think_aloud("".join(self._raw)))
        thought, shown = "".join(event.text for event in events), "".join(self._shown)
        self._said, self._calls, self._raw = [], [], []
        if thought.startswith(shown) and len(thought) > len(shown):
            yield events[0].model_copy(update={"text": thought[len(shown) :]})

    def _end_thought(self) -> None:
        self._mode, self._is_channel, self._depth = _Mode.SAID, False, 0
        self._is_assumed = False
        self._aloud.append("\n\n")
        self._is_new_line = not self._said

    def _end_ahead(self) -> Iterator[Shown]:
        if self._mode is _Mode.AHEAD:
            yield from self._answer()

    def _answer(self) -> Iterator[Shown]:
        """Take what stands behind an answer's mark as the answer, unless it is a step after all."""
        held, self._held, self._mode = self._held, "", _Mode.SAID
        begin = held.lstrip().lower()
        is_answer = bool(begin) and not begin.startswith(_NO_ANSWER)
        yield from self._say((_ANSWER if is_answer else "\n") + held)

    def _say(self, text: str) -> Iterator[Shown]:
        if not self._is_new_line:
            self._is_new_line, text = True, f"\n{text}"
        self._said.append(text)
        self._raw.append(text)
        yield from self._form.feed(text)

    def _think(self, text: str) -> Iterator[Shown]:
        self._aloud.append(text)
        if self._is_assumed:
            self._raw.append(text)
        yield from self._form.think_aloud(text)

    def _is_at_line(self) -> bool:
        return "".join(self._said[-1:]).rstrip(" \t").endswith("\n")
