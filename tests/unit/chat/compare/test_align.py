from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.compare.align import Row, align, matches
from chat.models import Action, Turn


def act(tool: str, **inputs: Any) -> Turn:
    return several((tool, inputs))


def several(*calls: tuple[str, dict[str, Any]]) -> Turn:
    tools = " and ".join(tool for tool, _ in calls)
    turn = Turn(kind="action", thought=f"I will use {tools}.")
    turn.actions = [
        Action(turn=turn, position=position, tool=tool, inputs=inputs)
        for position, (tool, inputs) in enumerate(calls)
    ]
    return turn


def conclude(answer: str) -> Turn:
    turn = Turn(kind="final", thought="Done.", answer=answer)
    turn.actions = []
    return turn


def shape(rows: list[Row]) -> list[tuple[str, str, bool]]:
    def name(turn: Turn | None) -> str:
        return "" if turn is None else " ".join(turn.tools) or turn.answer or turn.thought

    return [(name(row.left), name(row.right), row.is_same) for row in rows]


def test_the_same_tool_and_inputs_stand_in_one_row() -> None:
    left = [act("search", query="x"), act("calculator", expression="1 + 1"), conclude("2")]
    right = [act("calculator", expression="1 + 1"), conclude("two")]

    assert shape(align(left, right)) == [
        ("search", "", False),
        ("calculator", "calculator", True),
        ("2", "two", False),
    ]


def test_the_same_tool_with_other_inputs_is_not_the_same() -> None:
    rows = align([act("search", query="x")], [act("search", query="y")])

    assert shape(rows) == [("search", "search", False)]


def test_the_order_of_inputs_does_not_matter() -> None:
    rows = align([act("f", a=1, b=[2])], [act("f", b=[2], a=1)])

    assert shape(rows) == [("f", "f", True)]


def test_turns_of_several_actions_are_alike_where_all_of_them_are() -> None:
    first, second, third = ("look", {"at": 1}), ("look", {"at": 2}), ("look", {"at": 3})

    rows = align([several(first, second), several(first, second)], [several(first, second)])
    others = align([several(first, second)], [several(first, third)])
    fewer = align([several(first, second)], [several(first)])

    assert shape(rows) == [("look look", "look look", True), ("look look", "", False)]
    assert shape(others) == [("look look", "look look", False)]
    assert shape(fewer) == [("look look", "look", False)]


def test_a_run_without_turns_leaves_its_side_empty() -> None:
    assert shape(align([], [act("search", query="x")])) == [("", "search", False)]


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_every_turn_is_shown_once_and_in_order(left: list[int], right: list[int]) -> None:
    ours = [act("f", n=n) for n in left]
    theirs = [act("f", n=n) for n in right]

    rows = align(ours, theirs)

    assert [id(row.left) for row in rows if row.left is not None] == [id(t) for t in ours]
    assert [id(row.right) for row in rows if row.right is not None] == [id(t) for t in theirs]


@given(st.text("abcd"), st.text("abcd"))
def test_what_is_matched_is_alike_and_in_order(left: str, right: str) -> None:
    found = matches(left, right)

    assert all(left[i] == right[j] for i, j in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))
    assert left != right or len(found) == len(left)


@given(st.lists(st.integers(), unique=True), st.randoms())
def test_of_turns_that_are_all_different_the_most_are_matched(left: list[int], chance: Any) -> None:
    right = sorted(left, key=lambda _: chance.random())

    longest = [0] * (len(right) + 1)
    for value in left:
        before = longest[:]
        for n, other in enumerate(right):
            longest[n + 1] = max(longest[n], before[n + 1], before[n] + (value == other))

    assert len(matches(left, right)) == longest[-1]


class Counted:
    """A key that counts how often it is compared."""

    compared = 0

    def __init__(self, key: object) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return isinstance(other, Counted) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (lambda _: 0, lambda _: 0),
        (lambda n: n % 2, lambda n: (n + 1) % 2),
        (lambda n: n % 7, lambda n: (n * 3) % 7),
        (lambda n: n if n % 2 else -1, lambda n: n if n % 2 else -2),
        (lambda n: n, lambda n: -n),
    ],
)
def test_an_agent_that_goes_round_in_circles_is_compared_in_steps_that_grow_with_its_turns(
    left: Callable[[int], int], right: Callable[[int], int]
) -> None:
    count = 5_000
    Counted.compared = 0

    matches([Counted(left(n)) for n in range(count)], [Counted(right(n)) for n in range(count)])

    assert Counted.compared < 12 * count
