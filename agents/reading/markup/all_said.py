"""Read a reply that is to be all answer as a step, for some models write one nevertheless."""

import re
from collections.abc import Iterator
from re import Match

from agents.events import ThoughtDelta
from agents.reading.action_reply import ActionReader

_FENCE = re.compile(r"[ \t]{0,4}(?P<marks>`{3,20}|~{3,20})(?P<rest>[^\n]{0,80})")
_WIDEST = 120
_OBJECT = re.compile(r"\s{0,40}(?P<more>\S)")


class Aloud(ThoughtDelta):
    """What was thought aloud, and not merely said without a label."""


class AllSaid(ActionReader):
    """Read a step, and tell what is thought aloud from what is said.

    Behind something that was said, a label in a fence of code is a part of it, as where it quotes
    what a program printed; only an action with its object is one there, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._fence = ""
        self._line = ""
        self._has_said = False

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Show it apart; it is no part of what is said."""
        yield Aloud(text=text)

    def _show(self, text: str) -> Iterator[ThoughtDelta]:
        self._see_fences(text)
        yield from super()._show(text)

    def _see_fences(self, text: str) -> None:
        """Follow which fence is open; of a line, its first characters tell."""
        *lines, rest = text.split("\n")
        for line in lines:
            self._end_line(self._line + line[:_WIDEST])
            self._line = ""
        self._line = (self._line + rest[:_WIDEST])[:_WIDEST]
        self._has_said = self._has_said or bool(text.strip("`~ \t\n"))

    def _end_line(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence is None:
            return
        if not self._fence:
            self._fence = fence["marks"]
        elif fence["marks"].startswith(self._fence) and not fence["rest"].strip():
            self._fence = ""

    def _quotes(self, label: Match[str]) -> bool | None:
        own = _FENCE.match(label[0])
        if not self._has_said or bool(self._fence) == (own is not None):
            return False
        if label.lastgroup not in ("action", "bare", "native"):
            return True
        follows = _OBJECT.match(self._text, label.end())
        if follows is None and not self._is_last:
            return None
        return follows is None or follows["more"] not in "{["
