"""Read a reply while it streams: reasoning, and then an action or the final answer.

Reasoning and answer are shown as they come, held back as far as they may still turn out to be a
label or a marker, so that no part of one is ever shown. The first action or answer counts; behind a
native call those count, too, that follow it with nothing between. Labels may stand in a fence,
in emphasis, in any case. What stands in `<think>` is only thought.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from re import Match
from typing import ClassVar

from agents.errors import ParseError
from agents.events import AnswerDelta, ThoughtDelta
from agents.nesting import Balance
from agents.reading.action import WrittenAction, read_action, read_native
from agents.reading.markup.action_marks import (
    ANSWER_LABEL,
    ANSWER_MARK,
    LABEL,
    MARK,
    MARKED,
    MAY_FOLLOW,
    NAMES_ITSELF,
    NATIVE_FOLLOWS,
    THOUGHT_ENDS,
    open_emphasis,
)
from agents.reading.trimmed import Trimmed
from agents.text import storable

OPENING, CLOSING = "<__final_answer__>", "</__final_answer__>"

_HOLD = 64
"""More than any label with its fence, so that what lies further back is certainly none."""

_MAX_CALLS = 16
"""Native calls that are read of one reply."""

_IDLE_ACTIONS = 3
"""Actions without a tool in one reply, before the next one ends it."""


@dataclass(frozen=True)
class ActionReply:
    """What a reply says: reasoning, then actions, an answer, or neither.

    `broken` is what was meant for an action and could not be read, `error` why not.
    """

    thought: str = ""
    actions: tuple[WrittenAction, ...] = ()
    answer: str = ""
    broken: str = ""
    error: str = ""

    @property
    def action(self) -> WrittenAction | None:
        """Return the first action."""
        return next(iter(self.actions), None)


class _Part(Enum):
    REASONING = auto()
    THINKING = auto()
    ACTION = auto()
    NEXT_CALL = auto()
    ANSWER = auto()


class ActionReader:
    """Yield what can be shown of a reply while it streams, and hold what it says in the end.

    `done` becomes true as soon as nothing that follows can matter.
    """

    knows_final_marks: ClassVar[bool] = True

    def __init__(self) -> None:
        self.done = False
        self.actions: list[WrittenAction] = []
        self.broken = ""
        self.error = ""
        self._part = _Part.REASONING
        self._text, self._at = "\n", 1  # what lies before `at` is read, and says where lines begin
        self._is_last = False
        self._is_aloud = False
        self._begins = True
        self._thought, self._answer = Trimmed(), Trimmed()
        self._balance = Balance()
        self._written: list[str] = []
        self._read: Callable[[str], tuple[WrittenAction, int]] = read_action
        self._idle = 0
        self._has_begun = False
        self._ends_at_label = False
        self._emphasis = ""
        self.names_itself = False  # what is no step is labelled as a thought

    @property
    def reply(self) -> ActionReply:
        """Return what has been read."""
        return ActionReply(
            self._thought.text, tuple(self.actions), self._answer.text, self.broken, self.error
        )

    @property
    def takes_marks(self) -> bool:
        """Tell whether neither an action nor an answer has begun."""
        is_open = self._part is _Part.REASONING or (
            self._part is _Part.ACTION and not self._has_begun
        )
        is_empty = not self._answer and not self._text[self._at :].strip()
        return (is_open or (self._part is _Part.ANSWER and is_empty)) and not self.done

    @property
    def takes_inputs(self) -> bool:
        """Tell whether an action is being read."""
        return self._part is _Part.ACTION and not self.done

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Take what a reasoning model says to itself; it is shown as thought."""
        self._is_aloud = True
        if shown := self._thought.add(storable(text)):
            yield ThoughtDelta(text=shown)

    def feed(self, chunk: str) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take more of the reply; yield what it shows."""
        if self.done:
            return
        if self._is_aloud:
            self._is_aloud = False
            self._separate()
        self._text = self._text[self._at - 1 :] + storable(chunk)
        self._at = 1
        yield from self._go_on()

    def finish(self, *, is_cut: bool = False) -> Iterator[ThoughtDelta | AnswerDelta]:
        """Take the reply as complete, or as cut off; yield what was held back."""
        self._is_last = True
        if is_cut and self._part is _Part.ACTION and not self.done:
            self._break("".join(self._written), "The action breaks off.")
        elif not self.done:
            yield from self._go_on()
        self.done = True

    def _go_on(self) -> Iterator[ThoughtDelta | AnswerDelta]:
        part = None
        while part is not self._part and not self.done:
            part = self._part
            match part:
                case _Part.REASONING:
                    yield from self._reason()
                case _Part.THINKING:
                    yield from self._think()
                case _Part.ACTION:
                    self._act()
                case _Part.NEXT_CALL:
                    self._look_for_another()
                case _Part.ANSWER:
                    yield from self._say()

    def _reason(self) -> Iterator[ThoughtDelta]:
        while MARKED.search(self._text, self._at) and (label := LABEL.search(self._text, self._at)):
            yield from self._show(self._text[self._at : label.start()])
            self._at = label.start()
            is_quoted = self._quotes(label)
            if is_quoted is None:
                return
            self._at = label.end()
            if is_quoted:
                yield from self._show(label[0])
                continue
            self._turn_to(label)
            if self._part is not _Part.REASONING or self.done:
                return
        yield from self._show(self._certain())

    def _quotes(self, label: Match[str]) -> bool | None:
        """Tell whether a label stands in what is only quoted; None while more text is to tell."""
        return False

    def _turn_to(self, label: Match[str]) -> None:
        """Let the label say what begins."""
        match label.lastgroup:
            case "action" | "inline" | "bare":
                self._has_begun = False
                self._part, self._read = _Part.ACTION, read_action
            case "native":
                self._has_begun = False
                self._part, self._read = _Part.ACTION, read_native
            case "answer" | "marker":
                self._part = _Part.ANSWER
                self._ends_at_label = label.lastgroup == "answer"
                self._emphasis = open_emphasis(label[0])
            case "observation":
                self.done = True
            case "thinks":
                self._part = _Part.THINKING
                self._separate()
            case _:
                self._separate()

    def _think(self) -> Iterator[ThoughtDelta]:
        end = THOUGHT_ENDS.search(self._text, self._at)
        if end is None:
            yield from self._show(self._certain())
            return
        yield from self._show(self._text[self._at : end.start()])
        self._separate()
        self._at = end.end()
        self._part = _Part.REASONING

    def _say(self) -> Iterator[AnswerDelta]:
        marks = ANSWER_MARK if self._ends_at_label else MARK
        while mark := marks.search(self._text, self._at):
            yield from self._show_answer(self._text[self._at : mark.start()])
            self._at = mark.end()
            if mark.lastgroup == "end":
                self.done = True
                return
        yield from self._show_answer(self._certain())

    def _act(self) -> None:
        """Gather the action until its object is complete, or the reply is; then read it."""
        more, self._at = self._text[self._at :], len(self._text)
        self._written.append(more)
        self._has_begun = self._has_begun or bool(more.strip())
        if not self._balance.is_complete(more) and not self._is_last:
            return
        written = "".join(self._written)
        said = written[: self._balance.end]
        try:
            action, end = self._read(said)
        except ParseError as error:
            self._break(said, str(error))
            return
        if action.tool is not None:
            self.actions.append(action)
            self._written, self._balance = [], Balance()
            self._part, self._text, self._at = _Part.NEXT_CALL, "\n" + written[end:], 1
            self.done = self._read is not read_native or len(self.actions) >= _MAX_CALLS
            return
        if self._idle >= _IDLE_ACTIONS:
            self.done = True
            return
        self._idle += 1
        self._written, self._balance = [], Balance()
        self._part, self._text, self._at = _Part.REASONING, "\n" + written[end:].lstrip("`"), 1

    def _look_for_another(self) -> None:
        """Go on with the native call that follows, if one does."""
        if follows := NATIVE_FOLLOWS.match(self._text, self._at):
            self._part, self._at = _Part.ACTION, follows.end()
        elif self._is_last or MAY_FOLLOW.match(self._text, self._at) is None:
            self.done = True

    def _break(self, written: str, error: str) -> None:
        """Take none of the actions: what the model shall write anew, it writes whole."""
        self.actions, self.broken, self.error, self.done = [], written.strip(), error, True

    def _certain(self) -> str:
        """Take away and return the text that can be no part of a label any more."""
        is_first = self._begins or (self._part is _Part.ANSWER and not self._answer)
        least = 2 * _HOLD if is_first else _HOLD
        if self._is_last:
            end = len(self._text)
        elif len(self._text) - self._at <= least:
            return ""
        else:
            end = len(self._text) - _HOLD
        certain, self._at = self._text[self._at : end], end
        return certain

    def _separate(self) -> None:
        self._thought.separate("\n\n")
        self._begins = True

    def _show(self, text: str) -> Iterator[ThoughtDelta]:
        if self._begins:
            named = NAMES_ITSELF.match(text)
            self.names_itself = self.names_itself or named is not None
            text = text if named is None else text[named.end() :]
            self._begins = not text.strip()
        if shown := self._thought.add(text):
            yield ThoughtDelta(text=shown)

    def _show_answer(self, text: str) -> Iterator[AnswerDelta]:
        if text:
            text, self._emphasis = text.removeprefix(self._emphasis), ""
        if not self._answer:
            text = ANSWER_LABEL.sub("", text)
        if shown := self._answer.add(text):
            yield AnswerDelta(text=shown)
