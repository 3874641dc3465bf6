from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chat.compare.align import Row, align
from chat.models import Turn


def act(tool: str, **inputs: Any) -> Turn:
    return Turn(kind="action", tool=tool, inputs=inputs, thought=f"I will use {tool}.")


def conclude(answer: str) -> Turn:
    return Turn(kind="final", thought="Done.", answer=answer)


def shape(rows: list[Row]) -> list[tuple[str, str, bool]]:
    def name(turn: Turn | None) -> str:
        return "" if turn is None else turn.tool or turn.answer or turn.thought

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


def test_a_run_without_turns_leaves_its_side_empty() -> None:
    assert shape(align([], [act("search", query="x")])) == [("", "search", False)]


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_every_turn_is_shown_once_and_in_order(left: list[int], right: list[int]) -> None:
    ours = [act("f", n=n) for n in left]
    theirs = [act("f", n=n) for n in right]

    rows = align(ours, theirs)

    assert [id(row.left) for row in rows if row.left is not None] == [id(t) for t in ours]
    assert [id(row.right) for row in rows if row.right is not None] == [id(t) for t in theirs]
