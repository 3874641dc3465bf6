"""Where a request is cut into pieces, so that other requests of its run have the same ones.

The bodies are JSON that is written one way by all providers. A cut stands where a message ends and
after each text that `agents.prompting.prompts.enclosed` set apart: most of all after observations,
which end the turns of a scratchpad. Wherever a turn is told, it is the same piece. Where a text is
told without such marks, a cut stands where the last request of the same purpose ended, too.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, pairwise

WORTH = 256
"""Characters; less than that is stored again rather than cut off for the last request's sake."""
MANY = 8
"""New pieces of one request; where there are more, those in a row are one.

A plan that was carried out is told all at once, and will not be told in parts.
"""

_MARK = re.compile(r'</\w+ id=\\"[0-9a-f]{12}\\">')
_END = re.compile(r'"\}[\],]')


def pieces_of(text: str, start: int, shared: int, is_known: Callable[[str], bool]) -> list[str]:
    """Cut a request from `start` on; `shared` characters of it are those of an earlier one."""
    pieces = list(_cut(text, start, shared))
    if sum(not is_known(piece) for piece in pieces) <= MANY:
        return pieces
    return [*_joined(pieces[:-1], is_known), pieces[-1]]


def shared_length(before: str, after: str) -> int:
    """Return how many characters two texts begin with in common, by halving."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(text: str, start: int, shared: int) -> Iterator[str]:
    edges = [start, *_edges(text, start), len(text)]
    for begin, end in pairwise(edges):
        if begin + WORTH <= shared < end:
            yield text[begin:shared]
            begin = shared
        if begin < end:
            yield text[begin:end]


def _edges(text: str, start: int) -> list[int]:
    marks = [found.end() for found in _MARK.finditer(text, start)]
    ends = (found.start() for found in _END.finditer(text, start))
    return sorted([*marks, *(end for end in ends if text[end - 1] != "\\")])


def _joined(pieces: Iterable[str], is_known: Callable[[str], bool]) -> Iterator[str]:
    for are_known, some in groupby(pieces, is_known):
        texts = list(some)
        yield from texts if are_known else ["".join(texts)]
