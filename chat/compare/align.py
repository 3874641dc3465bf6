"""Lay the turns of two runs side by side, so that what they did alike stands in one row."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from chat.models import Turn


@dataclass(frozen=True)
class Row:
    """Turns that stand beside each other, either of which may be missing.

    `is_same` says that both called the same tool with the same inputs.
    """

    left: Turn | None
    right: Turn | None
    is_same: bool = False


def align(left: Sequence[Turn], right: Sequence[Turn]) -> list[Row]:
    """Return every turn of both runs once, in order, with like ones beside each other.

    Actions are alike by tool and inputs, answers for being answers, other turns by their thought.
    What stands between two like turns is paired as it comes.
    """
    return list(_rows(left, right))


def _rows(left: Sequence[Turn], right: Sequence[Turn]) -> Iterator[Row]:
    matcher = SequenceMatcher(
        None, [_key(turn) for turn in left], [_key(turn) for turn in right], autojunk=False
    )
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        for one, other in zip_longest(left[i:i_end], right[j:j_end]):
            is_same = tag == "equal" and one is not None and bool(one.tool)
            yield Row(one, other, is_same)


def _key(turn: Turn) -> tuple[str, str]:
    if turn.tool:
        return turn.tool, json.dumps(turn.inputs, sort_keys=True)
    return ("", turn.kind) if turn.answer else ("", turn.thought)
