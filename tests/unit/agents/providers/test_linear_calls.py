"""The work of putting native calls together grows with their pieces and no faster.

Counted is every instruction, and every character that a function is given or returns: a list that
is looked through again and a text that is parsed again are seen, in whatever language.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.providers.wire.native_calls import NativeCalls

UNITS = 100
A_LITTLE = 1_000
NEXT = "{next}"
"""Stands for a place or an id that no piece before has."""


class Piece(NamedTuple):
    """What a server says of a call at once."""

    place: object = None
    name: str | None = None
    arguments: str | None = None
    call_id: str | None = None


PIECES = st.builds(
    Piece,
    place=st.sampled_from([None, 0, 1, "0", NEXT]),
    name=st.sampled_from([None, None, "look", "search"]),
    arguments=st.sampled_from([None, "", "{", "}", "{}", '{"a": "', "x" * 10, '"', '"}', "\\"]),
    call_id=st.sampled_from([None, None, "a", NEXT]),
)


def taken(pieces: Sequence[Piece]) -> NativeCalls:
    calls = NativeCalls()
    for piece in pieces:
        calls.take(*piece)
    return calls


def repeated(unit: Sequence[Piece], times: int) -> list[Piece]:
    pieces = list(unit) * times
    return [
        piece._replace(
            place=number if piece.place == NEXT else piece.place,
            call_id=f"id{number:06}" if piece.call_id == NEXT else piece.call_id,
        )
        for number, piece in enumerate(pieces)
    ]


def work(act: Callable[[], object]) -> int:
    """Return how many instructions are run, and how many characters functions are handed."""
    count = 0

    def see(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call":
            count += sum(len(v) for v in frame.f_locals.values() if isinstance(v, str))
        elif event == "return" and isinstance(argument, str):
            count += len(argument)
        elif event == "opcode":
            count += 1
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "unit",
    [
        [Piece(arguments="x" * 10)],
        [Piece(arguments="{")],
        [Piece(place=0, arguments="{")],
        [Piece(place=NEXT, name="look", arguments="{}")],
        [Piece(name="look", arguments="{}")],
        [Piece(name="look", call_id=NEXT, arguments="{}")],
        [Piece(place=0, name="look", call_id=NEXT)],
    ],
    ids=str,
)
def test_four_times_the_pieces_are_four_times_the_work_whatever_a_call_is_named_by(
    unit: Sequence[Piece],
) -> None:
    begun = Piece(place=0, name="look", arguments='{"a": "')
    once, more = repeated(unit, UNITS), repeated(unit, 4 * UNITS)

    few, many = (work(partial(taken, [begun, *pieces])) for pieces in (once, more))

    assert many <= 5 * few + A_LITTLE


@given(begun=PIECES, unit=st.lists(PIECES, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_four_times_any_pieces_are_four_times_the_work(begun: Piece, unit: list[Piece]) -> None:
    once, more = repeated(unit, UNITS), repeated(unit, 4 * UNITS)

    few, many = (work(partial(taken, [begun, *pieces])) for pieces in (once, more))

    assert many <= 5 * few + A_LITTLE


def test_calls_without_a_place_are_told_apart_by_where_an_object_ends() -> None:
    texts = ['{"a": "}', '{"', ', "b": {}', "}", '{"a": ', "1}"]
    begun, *more = [
        Piece(name="look", arguments=texts[0]),
        *(Piece(arguments=t) for t in texts[1:]),
    ]

    whole = taken([begun, *more]).whole([])

    assert [call.arguments for call in whole] == ['{"a": "}{", "b": {}}', '{"a": 1}']


def test_arguments_that_begin_as_an_empty_object_are_replaced_by_those_that_come() -> None:
    calls = taken([Piece(0, "look", "{}"), Piece(0, None, "{"), Piece(0, None, '"a": 1}')])

    assert [call.arguments for call in calls.whole([])] == ['{"a": 1}']


def test_a_place_that_is_no_number_and_no_word_is_none() -> None:
    calls = taken([Piece([0], "look", '{"a": '), Piece({"at": 0}, None, "1}")])

    assert [call.arguments for call in calls.whole([])] == ['{"a": 1}']
