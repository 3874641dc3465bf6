"""Long text with its middle folded away, so that no page grows with what a tool printed."""

from dataclasses import dataclass

WHOLE = 8_000
WHOLE_LINES = 60
HEAD, HEAD_LINES = 3_000, 24
TAIL, TAIL_LINES = 1_000, 8
INLINE = 16_000
STEP = 100_000
"""Characters that a page is sent at once of what is left out: more would hold it up."""


@dataclass(frozen=True)
class Folded:
    """A text in three parts; `middle` is empty when it is shown whole.

    `is_far` says that the middle is too long to send along and is fetched when asked for; of its
    characters `elsewhere` are not at hand.
    """

    head: str
    middle: str = ""
    tail: str = ""
    elsewhere: int = 0

    @property
    def length(self) -> int:
        """Return the characters of the whole text."""
        return len(self.head) + self._left_out + len(self.tail)

    @property
    def is_block(self) -> bool:
        """Tell whether the text needs lines of its own."""
        return bool(self.middle) or "\n" in self.head

    @property
    def is_far(self) -> bool:
        """Tell whether the middle is left out of the page."""
        return self._left_out > INLINE

    @property
    def is_very_long(self) -> bool:
        """Tell whether the middle comes in several steps."""
        return self._left_out > STEP

    @property
    def _left_out(self) -> int:
        return len(self.middle) + self.elsewhere

    def step(self, start: int) -> str:
        """Return the next part of the middle, to a line's end if one is near."""
        end = start + STEP
        if end < len(self.middle):
            end = self.middle.rfind("\n", end - TAIL, end) + 1 or end
        return self.middle[start:end]


def fold(text: str, elsewhere: int = 0) -> Folded:
    """Split a text of many characters or lines into head, middle and tail, at line ends if near.

    Where `elsewhere` characters of its middle are not at hand, there are WHOLE or more of the rest.
    """
    if len(text) <= WHOLE and text.count("\n") < WHOLE_LINES:
        return Folded(head=text)
    head = "".join(text[:HEAD].splitlines(keepends=True)[:HEAD_LINES])
    tail = "".join(text[-TAIL:].splitlines(keepends=True)[-TAIL_LINES:])
    cut, resume = len(head), len(text) - len(tail)
    cut = text.rfind("\n", cut // 2, cut) + 1 or cut
    near = text.find("\n", resume, resume + len(tail) // 2)
    end = resume if near < 0 else near + 1
    return Folded(text[:cut], text[cut:end], text[end:], elsewhere)
