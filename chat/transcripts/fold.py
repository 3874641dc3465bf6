"""Long text with its middle folded away, so that no page grows with what a tool printed."""

from dataclasses import dataclass

WHOLE = 8_000
HEAD = 3_000
TAIL = 1_000
INLINE = 16_000


@dataclass(frozen=True)
class Folded:
    """A text in three parts; `middle` is empty when it is shown whole.

    `is_far` says that the middle is too long to send along and is fetched when asked for.
    """

    head: str
    middle: str = ""
    tail: str = ""

    @property
    def length(self) -> int:
        """Return the characters of the whole text."""
        return len(self.head) + len(self.middle) + len(self.tail)

    @property
    def is_block(self) -> bool:
        """Tell whether the text needs lines of its own."""
        return bool(self.middle) or "\n" in self.head

    @property
    def is_far(self) -> bool:
        """Tell whether the middle is left out of the page."""
        return len(self.middle) > INLINE


def fold(text: str) -> Folded:
    """Split a long text into head, middle and tail, at line ends where some are near."""
    if len(text) <= WHOLE:
        return Folded(head=text)
    cut = text.rfind("\n", HEAD // 2, HEAD) + 1 or HEAD
    resume = text.find("\n", len(text) - TAIL, len(text) - TAIL // 2) + 1 or len(text) - TAIL
    return Folded(head=text[:cut], middle=text[cut:resume], tail=text[resume:])
