"""A tool that reads on in what came back earlier in a run, where a prompt has only a part of it."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.spec import Tool, tool

Result = Callable[[int, int], str]
"""Give the whole text of a turn's action, both counted from 1; raises LookupError for none."""


def read_more_tool(result: Result, most: Callable[[], int]) -> Tool:
    """Return the tool over the results of one run; one call gives `most()` bytes of text.

    It brings in nothing that the call it reads on in has not brought in.
    """

    @tool(
        timeout=10,
        doing="Reading on",
        may_repeat=True,
        reads_only=True,
    )
    def read_more(
        turn: Annotated[int, Field(ge=1, description="the turn, from 1, as the mark says")],
        offset: Annotated[int, Field(ge=0, description="the character to read on from")] = 0,
        action: Annotated[int, Field(ge=1, description="which action of the turn")] = 1,
    ) -> str:
        """Read on in an earlier result of this run, of which only a part was shown."""
        text = result(turn, action)
        if offset >= len(text):
            raise ToolFailed(f"That result has {len(text):,} characters; the offset is behind it.")
        rest = text[offset:].encode(errors="replace")
        shown = rest[: most()].decode(errors="ignore")
        end = offset + len(shown)
        left = f"\n[{len(text) - end:,} more; read on at offset {end}.]" if end < len(text) else ""
        return f"[Characters {offset + 1:,} to {end:,} of {len(text):,}.]\n{shown}{left}"

    return read_more
