"""Lay the turns of two runs side by side, so that what they did alike stands in one row."""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from chat.models import Turn


@dataclass(frozen=True)
class Row:
    """Turns that stand beside each other, either of which may be missing.

    `is_same` says that both called the same tools with the same inputs.
    """

    left: Turn | None
    right: Turn | None
    is_same: bool = False


def align(left: Sequence[Turn], right: Sequence[Turn]) -> list[Row]:
    """Return every turn of both runs once, in order, with like ones beside each other.

    Turns with actions are alike by tools and inputs, answers for being answers, other turns by
    their thought. What stands between two like turns is paired as it comes. Takes n log n for n
    turns.
    """
    return list(_rows(left, right))


def _rows(left: Sequence[Turn], right: Sequence[Turn]) -> Iterator[Row]:
    i = j = 0
    pairs = matches([_key(turn) for turn in left], [_key(turn) for turn in right])
    for i_like, j_like in pairs:
        yield from _between(left[i:i_like], right[j:j_like])
        yield Row(left[i_like], right[j_like], is_same=bool(left[i_like].tools))
        i, j = i_like + 1, j_like + 1
    yield from _between(left[i:], right[j:])


def _between(left: Sequence[Turn], right: Sequence[Turn]) -> Iterator[Row]:
    return (Row(one, other) for one, other in zip_longest(left, right))


def matches(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of like keys, growing on both sides.

    What both begin and end with is matched first. Between, the n-th of a key is held against the
    n-th on the other side, and as many stay as can stand in order. Where an agent goes round in
    circles, a search for the longest like stretch would try each round with every other.
    """
    shorter = min(len(left), len(right))
    head = next((n for n in range(shorter) if left[n] != right[n]), shorter)
    most = shorter - head
    tail = next((n for n in range(most) if left[-1 - n] != right[-1 - n]), most)
    i_end, j_end = len(left) - tail, len(right) - tail
    places = {key: head + n for n, key in enumerate(_numbered(right[head:j_end]))}
    found = enumerate(_numbered(left[head:i_end]), head)
    like = [(i, places[key]) for i, key in found if key in places]
    ends = [(i_end + n, j_end + n) for n in range(tail)]
    return [*((n, n) for n in range(head)), *_in_order(like), *ends]


def _numbered(keys: Sequence[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Yield each key with how often it has been there before, so that no two are the same."""
    seen: Counter[Hashable] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs whose right sides grow, of pairs whose left sides do."""
    ends: list[int] = []  # the smallest right side at which so many pairs can end
    last: list[int] = []  # which pair that is
    before: list[int] = []  # which pair comes before each
    for n, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [j], [n]
    kept = []
    n = last[-1] if last else -1
    while n >= 0:
        kept.append(pairs[n])
        n = before[n]
    return kept[::-1]


def _key(turn: Turn) -> tuple[str, str]:
    if turn.tools:
        calls = [[action.tool, action.inputs] for action in turn.actions if action.tool]
        return turn.tools[0], json.dumps(calls, sort_keys=True)
    return ("", turn.kind) if turn.answer else ("", turn.thought)
