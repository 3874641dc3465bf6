"""Read a reply of the text format: a thought, and then an action or a final answer.

Models break the format in known ways. The earlier of action and answer wins, for what follows is
invented; an invented observation ends the reply. "Action: none" is no action. An answer is kept
whole: a line "Action:" in it belongs to it unless "Action Input:" follows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from agents.events import AnswerDelta, ThoughtDelta
from agents.reasoning.sections import Label, Labelled, LabelReader, Text
from agents.reasoning.trimmed import Trimmed

_NO_TOOL = frozenset({"", "none", "n/a", "na", "null", "no", "nothing", "no action", "no tool"})
_EMPHASIS = " \t`'\"*"
_INPUT_INLINE = re.compile(r"\baction[ _]?input[ \t]{0,3}:", re.IGNORECASE)
_CALL = re.compile(r"(?P<name>[\w-]{1,100})[ \t]*(?:\((?P<round>.*)\)|\[(?P<square>.*)\])")


@dataclass(frozen=True)
class Reply:
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

    def __init__(self) -> None:
        self.done = False
        self._labels = LabelReader()
        self._part = _Part.THOUGHT
        self._thought, self._answer = Trimmed(), Trimmed()
        self._tool: list[str] = []
        self._input: list[str] = []
        self._aloud = False
        self._held: list[str] = []
        self._holds_line = False

    @property
    def reply(self) -> Reply:
        """Return what has been read."""
        thought, answer = self._thought.text, self._answer.text
        if answer:
            return Reply(thought=thought, answer=answer)
        tool, tool_input = self._action()
        return Reply(thought=thought, tool=tool, tool_input=tool_input if tool else "")

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Take what a reasoning model says to itself; it is shown as thought."""
        self._aloud = True
        yield from self._add_thought(text)

    def feed(self, chunk: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take more of the reply; yield what it shows."""
        yield from self._read(self._labels.feed(chunk))

    def finish(self) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take the reply as complete; yield what was held back."""
        yield from self._read(self._labels.finish())
        if not self.done:
            yield from self._release()
        self.done = True

    def _read(self, items: Iterable[Labelled | Text]) -> Iterator[ThoughtDelta | AnswerDelta]:
        texts: list[str] = []
        for item in items:
            if self.done:
                return
            if isinstance(item, Text):
                texts.append(item.text)
            else:
                yield from self._lines(texts)
                texts = []
                yield from self._label(item)
        if not self.done:
            yield from self._lines(texts)

    def _lines(self, lines: list[str]) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take lines at once, unless something is held back: then each one counts."""
        for text in lines if self._held else filter(None, ["".join(lines)]):
            yield from self._text(text)

    def _label(self, item: Labelled) -> Iterator[AnswerDelta]:
        if self._held and item.label is Label.INPUT:
            self.done = True
        else:
            yield from self._release()
            yield from self._turn_to(item)

    def _text(self, text: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        match self._part:
            case _Part.THOUGHT | _Part.AFTERTHOUGHT:
                if self._aloud:
                    self._aloud = False
                    self._thought.separate("\n\n")
                yield from self._add_thought(text)
            case _Part.ACTION:
                self._tool.append(text)
            case _Part.INPUT:
                self._input.append(text)
            case _Part.ANSWER if self._held and (self._holds_line or not text.strip()):
                self._held.append(text)
                self._holds_line = self._holds_line and "\n" not in text
            case _Part.ANSWER:
                yield from self._release()
                yield from self._add_answer(text)

    def _turn_to(self, item: Labelled) -> Iterator[AnswerDelta]:
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
                yield from self._within_answer(item)
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

    def _within_answer(self, item: Labelled) -> Iterator[AnswerDelta]:
        match item.label:
            case Label.ACTION:
                self._held, self._holds_line = [item.raw], True
            case Label.INPUT:
                yield from self._add_answer(item.raw)
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
        self._input.clear()

    def _release(self) -> Iterator[AnswerDelta]:
        """Give back to the answer what looked like an action in it and was none."""
        held, self._held = self._held, []
        for text in held:
            yield from self._add_answer(text)

    def _add_thought(self, text: str) -> Iterator[ThoughtDelta]:
        if shown := self._thought.add(text):
            yield ThoughtDelta(text=shown)

    def _add_answer(self, text: str) -> Iterator[AnswerDelta]:
        if shown := self._answer.add(text):
            yield AnswerDelta(text=shown)
