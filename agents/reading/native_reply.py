"""Read a reply whose calls come beside its text: what is thought, what is said, and the answer.

Whether text is the answer is known at the end, for calls come behind it. A short text is held back,
for before a call there is seldom more; a longer one is shown as the answer it likely is, unless it
begins like a step or holds the mark of a call.
"""

import re
from collections.abc import Iterator

from agents.events import AnswerDelta, Event, ThoughtDelta
from agents.reading.markup.calls import CALL_MARK
from agents.reading.prose import Prose

HELD = 200
"""The characters that are held back until more comes, or the reply is over."""
_MARK_LENGTH = 140
_OBJECT = re.compile(r"\s*(?:`{3}\w{0,20}\s*)?\[?\s*\{")
_LABEL = re.compile(
    r"\W{0,10}(?:thought|action|observation|(?:final )?answer)\W{0,5}:", re.IGNORECASE
)


class NativeReader:
    """Show the thoughts as they come, and the text as an answer once it is long.

    A reply that `may_be_thought` up to a mark of thinking is shown at its end alone.
    """

    def __init__(self, *, may_be_thought: bool = False) -> None:
        self._prose = Prose(
            lambda text: AnswerDelta(text=text), lambda text: ThoughtDelta(text=text)
        )
        self._written: list[str] = []
        self._said: list[str] = []
        self._shown_size = 0
        self._size = 0
        self._tail = ""
        self._is_held = may_be_thought

    @property
    def thought(self) -> str:
        """Return what was thought aloud."""
        return self._prose.thought.text

    @property
    def said(self) -> str:
        """Return the text that is no thought."""
        return self._prose.said.text

    @property
    def written(self) -> str:
        """Return the text as it came, thoughts between marks among it."""
        return "".join(self._written)

    @property
    def begins_step(self) -> bool:
        """Tell whether the text begins with a label, as replies of other policies do."""
        return _LABEL.match(self.said) is not None

    @property
    def shown(self) -> str:
        """Return what was shown as an answer."""
        return "".join(self._said)[: self._shown_size]

    def take(self, text: str, *, is_thought: bool) -> Iterator[Event]:
        """Take more of the reply; yield what it shows."""
        if is_thought:
            yield from self._seen(self._prose.think_aloud(text))
            return
        self._written.append(text)
        yield from self._seen(self._prose.feed(text))

    def finish(self) -> Iterator[Event]:
        """Take the reply as over; yield the thoughts that were held back."""
        self._is_held = True
        yield from self._seen(self._prose.finish(is_cut=False))

    def _seen(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if not isinstance(event, AnswerDelta):
                yield event
                continue
            self._said.append(event.text)
            self._size += len(event.text)
            self._is_held = self._is_held or self._marks_a_call(event.text)
            if self._is_held or self._size <= HELD:
                continue
            text = event.text
            if not self._shown_size:
                text = "".join(self._said)
                if _OBJECT.match(text) or _LABEL.match(text):
                    self._is_held = True
                    continue
            self._shown_size = self._size
            yield AnswerDelta(text=text)

    def _marks_a_call(self, text: str) -> bool:
        looked = self._tail + text
        self._tail = looked[-_MARK_LENGTH:]
        return CALL_MARK.search(looked) is not None
