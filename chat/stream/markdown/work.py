"""How much the parser may do for one answer, counted in steps so that every machine agrees."""

from collections.abc import MutableMapping
from typing import Any

MAX_WORK = 100_000
"""Steps of the parser: a place tried for a mark, a line tried for a block, a token made.

Fifty thousand characters of ordinary Markdown take 4,000 to 8,000, of the densest that means
something 45,000; of text that is made to be slow, millions. A step is about 5 microseconds.
"""


class TooMuchWork(Exception):
    """The text is not worth the time that parsing it takes."""


def spend(environment: MutableMapping[str, Any], steps: int) -> None:
    """Count `steps` of the work on one answer; raises TooMuchWork when it is used up."""
    left = environment.get("work", MAX_WORK) - steps
    if left < 0:
        raise TooMuchWork
    environment["work"] = left
