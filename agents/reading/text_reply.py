"""Read a reply of the text format: a thought, and then an action or a final answer.

Models break the format in known ways. The earlier of action and answer wins, for what follows is
invented; an invented observation ends the reply. "Action: none" is no action. An answer is kept
whole: a line "Action:" in it belongs to it unless "Action Input:" follows. Labels within lines
count where there are no others to go by.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.labels import Label, Labelled, LabelReader, Text
from agents.reading.trimmed import Trimmed

_NO_TOOL = frozenset({"", "none", "n/a", "na", "null", "no", "nothing", "no action", "no tool"})
_EMPHASIS = " \t`'\"*"
_INPUT_INLINE = re.compile(r"\baction[ _]?input[ \t]{0,3}:", re.IGNORECASE)
_CALL = re.compile(r"(?P<name>[\w-]{1,100})[ \t]*(?:\((?P<round>.*)\)|\[(?P<square>.*)\])")
_IN_LINE = re.compile(
    r"(?<=\S)(?<!\b[Tt]he)(?<!\b[Tt]his)(?<!\b[Mm]y)(?<!\b[Yy]our)(?<!\b[Aa]n)(?<!\b[Aa])"
    r"[ \t]{1,4}(?=[*_`]{0,3}(?:Thought|Action(?: Input)?|Final Answer|Observation)[*_`]{0,3}:)"
)
"""The space before a label that stands within a line, but not before "the Final Answer:"."""


@dataclass(frozen=True)
class TextReply:
    """What a reply says; without a tool and an answer it could not be read."""

    thought: str = ""
    tool: str = ""
    tool_input: str = ""
    answer: str = ""


class _Part(Enum):
    THOUGHT = auto()
    ACTION = auto()
    INPUT = auto()
    AFTERTHOUGHT = auto()
    ANSWER = auto()


class ReplyReader:
    """Yield what can be shown of a reply while it streams, and hold what it says in the end.

    `done` becomes true as soon as nothing that follows can matter.
    """

    knows_final_marks: ClassVar[bool] = False

    def __init__(self) -> None:
        self.done = False
        self._labels = LabelReader()
        self._part = _Part.THOUGHT
        self._thought, self._answer = Trimmed(), Trimmed()
        self._tool: list[str] = []
        self._is_named = False
        self._input: list[str] = []
        self._aloud = False
        self._held: list[str] = []
        self._holds_line = False
        self._shown: list[ThoughtDelta | AnswerDelta] = []
        self._raw: list[str] = []
        self._said_aloud: list[str] = []
        self._read_again: TextReply | None = None

    @property
    def reply(self) -> TextReply:
        """Return what has been read."""
        if self._read_again is not None:
            return self._read_again
        thought, answer = self._thought.text, self._answer.text
        if answer:
            return TextReply(thought=thought, answer=answer)
        tool, tool_input = self._action()
        return TextReply(thought=thought, tool=tool, tool_input=tool_input if tool else "")

    @property
    def takes_marks(self) -> bool:
        """Tell whether neither an action nor an answer has begun."""
        is_open = self._part is _Part.THOUGHT or (self._part is _Part.ACTION and not self._is_named)
        is_empty = self._part is _Part.ANSWER and not (self._answer or self._held)
        return (is_open or is_empty) and not self.done

    @property
    def takes_inputs(self) -> bool:
        """Tell whether an action's inputs are being read."""
        return self._part is _Part.INPUT and not self.done

    def think_aloud(self, text: str) -> list[ThoughtDelta | AnswerDelta]:
        """Take what a reasoning model says to itself; it is shown as thought."""
        self._aloud = True
        self._said_aloud.append(text)
        self._add_thought(text)
        return self._new()

    def feed(self, chunk: str) -> list[ThoughtDelta | AnswerDelta]:
        """Take more of the reply; return what it shows."""
        if not self.done:
            self._raw.append(chunk)
            self._read(self._labels.feed(chunk))
        return self._new()

    def finish(self, *, is_cut: bool = False) -> list[ThoughtDelta | AnswerDelta]:
        """Take the reply as complete; return what was held back."""
        self._end()
        if not (self.reply.tool or self.reply.answer):
            self._read_in_lines()
        return self._new()

    def _end(self) -> None:
        if not self.done:
            self._read(self._labels.finish())
        if not self.done:
            self._release()
        self.done = True

    def _read_in_lines(self) -> None:
        """Read a reply without a step again, with each label that is within a line on its own."""
        text, count = _IN_LINE.subn("\n", "".join(self._raw))
        if not count:
            return
        reader = ReplyReader()
        reader.think_aloud("".join(self._said_aloud))
        reader.feed(text)
        reader._end()
        if reader.reply.tool or reader.reply.answer:
            self._read_again = reader.reply
            self._add_answer(reader.reply.answer)

    def _new(self) -> list[ThoughtDelta | AnswerDelta]:
        shown, self._shown = self._shown, []
        return shown

    def _read(self, items: Iterable[Labelled | Text]) -> None:
        for item in items:
            if isinstance(item, Text):
                self._text(item.text)
            elif self._held and item.label is Label.INPUT:
                self.done = True
            else:
                self._release()
                self._turn_to(item)
            if self.done:
                return

    def _text(self, text: str) -> None:
        match self._part:
            case _Part.THOUGHT | _Part.AFTERTHOUGHT:
                if self._aloud:
                    self._aloud = False
                    self._thought.separate("\n\n")
                self._add_thought(text)
            case _Part.ACTION:
                self._tool.append(text)
                self._is_named = self._is_named or bool(text.strip())
            case _Part.INPUT:
                self._input.append(text)
            case _Part.ANSWER if self._held:
                self._hold(text)
            case _Part.ANSWER:
                self._add_answer(text)

    def _hold(self, text: str) -> None:
        """Hold back the line that looks like an action, and the blank lines that follow it."""
        if self._holds_line:
            line, newline, text = text.partition("\n")
            self._held.append(line + newline)
            self._holds_line = not newline
        if text.strip():
            self._release()
            self._add_answer(text)
        else:
            self._held.append(text)

    def _turn_to(self, item: Labelled) -> None:
        """Let the label say which part begins, or that nothing more matters."""
        if item.label is Label.OBSERVATION:
            self.done = True
            return
        match self._part:
            case _Part.THOUGHT:
                self._after_thought(item)
            case _Part.ACTION:
                self._after_action(item)
            case _Part.INPUT:
                self._after_input(item)
            case _Part.ANSWER if self._answer:
                self._within_answer(item)
            case _Part.ANSWER:
                self._part = _Part.THOUGHT
                self._after_thought(item)
            case _Part.AFTERTHOUGHT:
                self.done = True

    def _after_thought(self, item: Labelled) -> None:
        match item.label:
            case Label.THOUGHT:
                self._thought.separate("\n")
            case Label.ACTION if self._action()[0]:
                self.done = True
            case Label.ACTION:
                self._part = _Part.ACTION
            case Label.INPUT:
                self._part = _Part.INPUT
            case _:
                self._forget_action()
                self._part = _Part.ANSWER

    def _after_action(self, item: Labelled) -> None:
        match item.label:
            case Label.INPUT:
                self._part = _Part.INPUT
            case Label.THOUGHT:
                self._part = _Part.THOUGHT
            case Label.ACTION if self._action()[0]:
                self.done = True
            case Label.ACTION:
                self._forget_action()
            case _:
                self._forget_action()
                self._part = _Part.ANSWER

    def _after_input(self, item: Labelled) -> None:
        if not self._action()[0]:
            self._forget_action()
            self._part = _Part.THOUGHT
            self._after_thought(item)
        elif item.label is Label.THOUGHT and not self._thought:
            self._part = _Part.AFTERTHOUGHT
        else:
            self.done = True

    def _within_answer(self, item: Labelled) -> None:
        match item.label:
            case Label.ACTION:
                self._held, self._holds_line = [item.raw], True
            case Label.INPUT:
                self._add_answer(item.raw)
            case _:
                self.done = True

    def _action(self) -> tuple[str, str]:
        """Return the tool's name, empty for none, and its input."""
        named, tool_input = "".join(self._tool).strip(), "".join(self._input).strip()
        inline = _INPUT_INLINE.search(named)
        if inline is not None and not tool_input:
            named, tool_input = named[: inline.start()], named[inline.end() :].strip()
        name = named.split("\n", 1)[0].strip(_EMPHASIS)
        call = _CALL.fullmatch(name)
        if call is not None and not tool_input:
            name, tool_input = call["name"], (call["round"] or call["square"] or "").strip()
        return ("", "") if name.strip(".()[]").lower() in _NO_TOOL else (name, tool_input)

    def _forget_action(self) -> None:
        self._tool.clear()
        self._is_named = False
        self._input.clear()

    def _release(self) -> None:
        """Give back to the answer what looked like an action in it and was none."""
        if self._held:
            self._add_answer("".join(self._held))
            self._held.clear()

    def _add_thought(self, text: str) -> None:
        if shown := self._thought.add(text):
            self._shown.append(ThoughtDelta(text=shown))

    def _add_answer(self, text: str) -> None:
        if shown := self._answer.add(text):
            self._shown.append(AnswerDelta(text=shown))
