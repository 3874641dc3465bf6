"""What a model is told of a long observation: its beginning and its end, and what lies between."""

from collections.abc import Callable

from agents.contracts import Observation
from agents.model.tokens import BYTES_PER_TOKEN, tokens
from agents.state import Excerpt

HEAD = 0.75
"""The share of the beginning in what is told."""
MARK = 60
"""Tokens that the words between take."""

More = Callable[[int], str]
"""Say how to read on from the character of this number; empty where nothing reads on."""


def excerpt(seen: Observation, most: int, more: More = lambda _: "") -> Observation:
    """Return the observation as a model reads it in about `most` tokens; whole if it is short."""
    if tokens(seen.told if isinstance(seen, Excerpt) else seen.text) <= most:
        return seen
    raw = seen.text.encode(errors="replace")
    size = max(0, int((most - MARK) * BYTES_PER_TOKEN))
    begun = raw[: int(size * HEAD)].decode(errors="ignore")
    left = size - int(size * HEAD)
    end = raw[len(raw) - left :].decode(errors="ignore") if left else ""
    first, last = len(begun), len(seen.text) - len(end)
    mark = (
        f"[Characters {first + 1:,} to {last:,} of {len(seen.text):,} are left out here."
        f"{more(first)}]"
    )
    told = "\n".join(filter(None, (begun, mark, end)))
    return Excerpt(**(dict(seen) | {"told": told}))
