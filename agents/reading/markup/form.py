"""What reads one policy's own form of a reply."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.action_reply import ActionReply
from agents.reading.text_reply import TextReply

Shown = ThoughtDelta | AnswerDelta


class FormReader(Protocol):
    """Reads what stands outside of marks; `knows_final_marks` if those of an answer are its own."""

    knows_final_marks: ClassVar[bool]
    done: bool

    @property
    def takes_marks(self) -> bool:
        """Tell whether neither an action nor an answer has begun."""
        ...

    @property
    def takes_inputs(self) -> bool:
        """Tell whether an action is being read."""
        ...

    @property
    def reply(self) -> TextReply | ActionReply:
        """Return what has been read."""
        ...

    def think_aloud(self, text: str, /) -> Iterable[Shown]:
        """Take what is thought apart."""
        ...

    def feed(self, chunk: str, /) -> Iterable[Shown]:
        """Take more of what is said."""
        ...

    def finish(self, *, is_cut: bool) -> Iterable[Shown]:
        """Take it as complete."""
        ...
