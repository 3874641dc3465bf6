"""Part what a model thinks aloud in `<think>` blocks from what it says."""

import re
from typing import NamedTuple

BETWEEN_THOUGHTS = "\n\n---\n\n"
THINK_MARK = re.compile(r"<(/?)think(?:ing)?(?:[ \t][^<>\n]{0,100})?>", re.IGNORECASE)
_MARK_SO_FAR = re.compile(
    r"</?(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?\Z|</?think(?:ing)?[ \t][^<>\n]{0,100}\Z",
    re.IGNORECASE,
)
_MAX_MARK = 120


class Parted(NamedTuple):
    """The thoughts of a reply, joined by a rule, and the rest of it."""

    thoughts: str
    said: str


def part_thinking(text: str) -> Parted:
    """Return the outermost blocks and what stands around them.

    A block that never ends is thought to the end. A reply that begins within a block, as some
    servers cut it, has only the closing mark: what stands before it is thought.
    """
    blocks: list[str] = []
    said: list[str] = []
    depth, start = 0, 0
    for mark in THINK_MARK.finditer(text):
        is_closing = bool(mark[1])
        if depth == 0:
            is_headless = is_closing and not blocks
            (blocks if is_headless else said).append(text[start : mark.start()])
            start = mark.end()
        elif is_closing and depth == 1:
            blocks.append(text[start : mark.start()])
            start = mark.end()
        depth = max(0, depth - 1) if is_closing else depth + 1
    (blocks if depth else said).append(text[start:])
    thoughts = (block.strip() for block in blocks)
    return Parted(BETWEEN_THOUGHTS.join(filter(None, thoughts)), "".join(said))


class Piece(NamedTuple):
    """A piece of a reply: thought aloud, or said."""

    is_thought: bool
    text: str


class ThinkingReader:
    """Part a reply while it streams; no part of a mark is ever in a piece."""

    def __init__(self) -> None:
        self._depth = 0
        self._pending = ""

    def feed(self, chunk: str) -> list[Piece]:
        """Take more of the reply; return what is certain by now."""
        text, at = self._pending + chunk, 0
        pieces: list[Piece] = []
        for mark in THINK_MARK.finditer(text):
            pieces.append(Piece(self._depth > 0, text[at : mark.start()]))
            self._depth = max(0, self._depth - 1) if mark[1] else self._depth + 1
            at = mark.end()
        end = max(at, _before_partial_mark(text))
        pieces.append(Piece(self._depth > 0, text[at:end]))
        self._pending = text[end:]
        return [piece for piece in pieces if piece.text]

    def finish(self) -> list[Piece]:
        """Return what was held back; the reply is complete."""
        text, self._pending = self._pending, ""
        return [Piece(self._depth > 0, text)] if text else []


def _before_partial_mark(text: str) -> int:
    """Return where the text ends that cannot be part of an unfinished mark."""
    bracket = text.rfind("<", max(0, len(text) - _MAX_MARK))
    return bracket if bracket >= 0 and _MARK_SO_FAR.match(text, bracket) else len(text)
