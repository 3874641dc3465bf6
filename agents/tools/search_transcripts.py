"""A tool that looks things up in the asker's own past transcripts."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from agents.contracts import Value
from agents.errors import ToolFailed
from agents.tools.spec import Tool, tool


class FoundTurn(Value):
    """A turn of an earlier run that fits a query; `turn` counts from 1, `text` is an excerpt."""

    run: int
    turn: int
    question: str
    text: str
    when: datetime


FindTurns = Callable[[str], Sequence[FoundTurn]]
"""Find turns for a query in the search page's language, best first, of one user only.

It is called in a thread of the tool's own: what it opens there, a database connection above all,
it has to give back.
"""

_SHOWN = 10
_EXCERPT = 300
_QUERY = 500


def search_transcripts_tool(find_turns: FindTurns) -> Tool:
    """Return the tool over what `find_turns` finds."""

    @tool(
        timeout=20,
        brings_in=True,
        doing="Searching past transcripts",
        may_repeat=True,
        reads_only=True,
    )
    def search_transcripts(
        query: Annotated[str, Field(description='words, "exact phrases", -words to leave out')],
    ) -> str:
        """Search the user's own earlier conversations, questions, answers and results.

        Look up what was asked, said, found or computed before, in the past, last time.
        """
        words = " ".join(query.split())
        if not words:
            raise ToolFailed("Say what to look for: the query is empty.")
        if len(words) > _QUERY:
            raise ToolFailed(f"The query is longer than {_QUERY} characters; use a few words.")
        found = find_turns(words)
        if not found:
            return f"Nothing was found for {words!r} in the earlier conversations."
        return "\n".join(_lines(found[:_SHOWN]))

    return search_transcripts


def _lines(found: Iterable[FoundTurn]) -> Iterable[str]:
    for number, turn in enumerate(found, 1):
        when = turn.when.astimezone(UTC)
        yield (
            f"{number}. run {turn.run}, turn {turn.turn}, {when:%Y-%m-%d %H:%M} UTC: "
            f"{_short(turn.question)}\n   {_short(turn.text)}"
        )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
