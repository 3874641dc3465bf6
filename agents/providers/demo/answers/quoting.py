"""Show a tool's output in a Markdown answer, exactly and within bounds."""

import re

_LIMIT = 4_000


def quoted(text: str) -> str:
    """Return `text` as a code block that it cannot break out of; a long one is cut and says so."""
    shown = text.strip("\n")
    if len(shown) > _LIMIT:
        shown = f"{shown[:_LIMIT]}\n[cut here; the observation holds all of it]"
    longest = max((len(ticks) for ticks in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
