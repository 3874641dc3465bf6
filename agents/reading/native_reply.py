"""Read a reply whose calls come beside its text: what is thought, what is said, and the answer.

Whether text is the answer is known at the end, for calls come behind it. A short text is held back,
for before a call there is seldom more; a longer one is shown as the answer it likely is.
"""

import re
from collections.abc import Iterator

from agents.events import AnswerDelta, Event, ThoughtDelta
from agents.reading.prose import Prose

HELD = 200
"""The characters that are held back until more comes, or the reply is over."""
_WRITTEN_CALL = re.compile(
    r"<\|?tool_calls?\b|\[TOOL_CALLS\]|<\|python_tag\|>|<function[=_]|<(?:\w+:)?invoke\b"
    r"|<\|channel\|>commentary|\A\s*(?:```(?:json)?\s*)?\{\s*\"(?:name|tool|tool_name|function)\"\s*:"
    r"\s*[\"{][^\n]{0,200}",
    re.IGNORECASE,
)


class NativeReader:
    """Show the thoughts as they come, and the text as an answer once it is long."""

    def __init__(self) -> None:
        self._prose = Prose(
            lambda text: AnswerDelta(text=text), lambda text: ThoughtDelta(text=text)
        )
        self._held: list[str] = []
        self._size = 0

    @property
    def thought(self) -> str:
        """Return what was thought aloud."""
        return self._prose.thought.text

    @property
    def said(self) -> str:
        """Return the text that is no thought."""
        return self._prose.said.text

    @property
    def writes_a_call(self) -> bool:
        """Tell whether the text holds a call that should have been made."""
        return _WRITTEN_CALL.search(self.said) is not None

    def take(self, text: str, *, is_thought: bool) -> Iterator[Event]:
        """Take more of the reply; yield what it shows."""
        read = self._prose.think_aloud if is_thought else self._prose.feed
        yield from self._shown(read(text))

    def finish(self) -> Iterator[Event]:
        """Take the reply as over; yield the thoughts that were held back."""
        yield from self._shown(self._prose.finish(is_cut=False), is_over=True)

    def answer(self) -> Iterator[Event]:
        """Yield what is held back of the text, which is the answer."""
        if self._held:
            yield AnswerDelta(text="".join(self._held))
            self._held.clear()

    def _shown(self, events: Iterator[Event], *, is_over: bool = False) -> Iterator[Event]:
        for event in events:
            if not isinstance(event, AnswerDelta):
                yield event
                continue
            self._held.append(event.text)
            self._size += len(event.text)
            if self._size > HELD and not is_over and not self.writes_a_call:
                yield from self.answer()
