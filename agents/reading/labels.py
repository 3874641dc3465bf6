"""Cut a text reply at its labels while it streams.

The reader sees a reply in any chunks and yields the same labels and texts as for the whole of it.
A line is held back only as long as it may still become a label, so that no part of one is ever
shown. Each character is looked at a bounded number of times: a hostile megabyte costs no more
than an honest one.
"""

import io
import re
from enum import StrEnum
from typing import NamedTuple

from agents.text import storable


class Label(StrEnum):
    """The labels of the text format, in small letters and without spaces."""

    THOUGHT = "thought"
    ACTION = "action"
    INPUT = "actioninput"
    ANSWER = "finalanswer"
    OBSERVATION = "observation"


class Labelled(NamedTuple):
    """A label, and the text it was written as."""

    label: Label
    raw: str


class Text(NamedTuple):
    """Text between two labels, or a part of it."""

    text: str


_WIDEST = 64
_LABEL = re.compile(
    r"[ \t]*(?:\#{1,6}[ \t]+)?(?P<open>[*_`]{0,3})"
    r"(?P<name>thought|action[ \t_-]{0,3}input|action|final[ \t_-]{0,3}answer|observation)"
    r"[ \t]?[0-9]{0,3}(?P<close>[*_`]{0,3})[ \t]*[:\uff1a]",
    re.IGNORECASE,
)
_LABEL_SO_FAR = re.compile(r"[ \t#*_`a-z0-9-]*\Z", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^a-z]+")
_PREFIXES = frozenset(label[:length] for label in Label for length in range(len(label) + 1))
_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_THINK_SO_FAR = re.compile(r"</?t?h?i?n?k?i?n?g?\Z", re.IGNORECASE)
_BREAK = re.compile(r"[\n<]")
_FENCE = r"^[ \t]*+(?P<marks>`{3,}+|~{3,}+)"
_FENCED = re.compile(rf"{_FENCE}(?P<rest>[^\n]*+)", re.MULTILINE)
_NAME = r"(?:thought|action|final|observation)"
_NOTEWORTHY = re.compile(
    rf"(?!^[ \t]*+`{{3}}{_NAME}){_FENCE}(?P<rest>[^\n<]*+)$"
    rf"|^[ \t]*+(?:\#{{1,6}}[ \t]++)?[*_`]{{0,3}}{_NAME}|<",
    re.IGNORECASE | re.MULTILINE,
)
"""What may matter in whole lines: a fence, the beginning of a label, and a mark of thinking."""


class LabelReader:
    """Yield the labels and the texts between them from a reply that comes in chunks.

    Labels count at the beginning of a line, in any case, with or without emphasis; not inside a
    code fence or `<think>`, whose marks are dropped. The reply begins in a thought.
    """

    def __init__(self) -> None:
        self._newlines = io.IncrementalNewlineDecoder(None, translate=True)
        self._pending = ""
        self._label = Label.THOUGHT
        self._at_start = True
        self._thinks = False
        self._emphasis = ""
        self._fence = ""
        self._line: list[str] = []
        self._said: list[str] = []
        self._found: list[Labelled | Text] = []

    def feed(self, chunk: str) -> list[Labelled | Text]:
        """Take more of the reply; return what is certain by now."""
        more = self._newlines.decode(storable(chunk))
        if self._pending or self._at_start or self._thinks or self._emphasis:
            return self._read(more, last=False)
        if not more or _BREAK.search(more):
            return self._read(more, last=False)
        self._line.append(more)
        return [Text(more)]

    def finish(self) -> list[Labelled | Text]:
        """Return what was held back; the reply is complete."""
        return self._read(self._newlines.decode("", final=True), last=True)

    def _read(self, more: str, *, last: bool) -> list[Labelled | Text]:
        text, at = self._pending + more, 0
        whole = text.rfind("\n") + 1
        while at < len(text):
            end = self._step(text, at, last, whole)
            if end is None:
                break
            at = end
        self._pending = text[at:]
        self._end_text()
        found, self._found = self._found, []
        return found

    def _step(self, text: str, at: int, last: bool, whole: int) -> int | None:
        """Read on from `at` and return how far; None when only more text can tell."""
        if self._thinks:
            return self._read_thinking(text, at, last)
        if self._emphasis:
            return self._drop_emphasis(text, at, last)
        if not self._at_start:
            return self._read_line(text, at, last)
        is_line = not self._line and (at == 0 or text[at - 1] == "\n")
        if is_line and at < whole and (end := self._read_lines(text, at, whole)) > at:
            return end
        return self._read_start(text, at, last)

    def _read_lines(self, text: str, at: int, whole: int) -> int:
        """Read the whole lines from `at` to the next one that may hold a label or `<think>`."""
        while at < whole:
            noteworthy = (_FENCED if self._fence else _NOTEWORTHY).search(text, at, whole)
            if noteworthy is None:
                self._say(text[at:whole])
                return whole
            if noteworthy["marks"] is None:
                line = text.rfind("\n", at, noteworthy.start()) + 1 or at
                self._say(text[at:line])
                return line
            self._see_fence(noteworthy)
            self._say(text[at : noteworthy.end() + 1])
            at = noteworthy.end() + 1
        return at

    def _drop_emphasis(self, text: str, at: int, last: bool) -> int | None:
        """Drop the other half of the emphasis around a label, as in `**Action:** x`."""
        start = text[at : at + len(self._emphasis)]
        if not last and start != self._emphasis and self._emphasis.startswith(start):
            return None
        marks, self._emphasis = self._emphasis, ""
        return at + len(marks) if text.startswith(marks, at) else at

    def _read_start(self, text: str, at: int, last: bool) -> int | None:
        """Read a label if the line begins with one, else the line."""
        end = text.find("\n", at, at + _WIDEST)
        start = text[at : at + _WIDEST if end < 0 else end]
        if not self._fence:
            label = _LABEL.match(start)
            if label is not None:
                self._take(label)
                return at + label.end()
        if not last and end < 0 and len(start) < _WIDEST and _may_become_label(start):
            return None
        self._at_start = False
        return self._read_line(text, at, last)

    def _take(self, label: re.Match[str]) -> None:
        self._label = Label(_NOT_LETTERS.sub("", label["name"].lower()))
        self._emphasis = label["open"] if not label["close"] else ""
        self._at_start = self._label is Label.THOUGHT  # "Thought: Action: x" is common
        self._line.clear()
        self._end_text()
        self._found.append(Labelled(self._label, label[0]))

    def _read_line(self, text: str, at: int, last: bool) -> int | None:
        """Read to the end of the line, or to a mark of thinking in it."""
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        if self._label is Label.THOUGHT and not self._fence and text.find("<", at, end) >= 0:
            mark = _THINK.search(text, at, end)
            if mark is not None:
                self._say_in_line(text[at : mark.start()])
                self._thinks, self._at_start = not mark[1], True
                return mark.end()
            if newline < 0 and not last:
                end = _before_partial_mark(text, at)
                if end == at:
                    return None
        self._say_in_line(text[at:end])
        return end

    def _read_thinking(self, text: str, at: int, last: bool) -> int | None:
        mark = _THINK.search(text, at)
        if mark is None:
            end = len(text) if last else _before_partial_mark(text, at)
            self._say(text[at:end])
            return None if end == at else end
        self._say(text[at : mark.start()])
        self._thinks, self._at_start = not mark[1], True
        return mark.end()

    def _say_in_line(self, text: str) -> None:
        self._say(text)
        self._line.append(text)
        if text.endswith("\n"):
            fence = _FENCED.match("".join(self._line))
            self._line.clear()
            self._at_start = True
            if fence is not None:
                self._see_fence(fence)

    def _see_fence(self, fence: re.Match[str]) -> None:
        marks, rest = fence["marks"], fence["rest"]
        if not self._fence and "`" not in rest:
            self._fence = marks
        elif self._fence and marks.startswith(self._fence) and not rest.strip():
            self._fence = ""

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)

    def _end_text(self) -> None:
        if self._said:
            self._found.append(Text("".join(self._said)))
            self._said.clear()


def _may_become_label(start: str) -> bool:
    if not _LABEL_SO_FAR.match(start):
        return False
    return _NOT_LETTERS.sub("", start.lower()) in _PREFIXES


def _before_partial_mark(text: str, at: int) -> int:
    """Return where the text ends that cannot be part of an unfinished mark of thinking."""
    bracket = text.rfind("<", max(at, len(text) - len("</thinking>") + 1))
    return bracket if bracket >= 0 and _THINK_SO_FAR.match(text, bracket) else len(text)
