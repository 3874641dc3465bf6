"""Folding loses nothing and bounds what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcripts.fold import HEAD, TAIL, WHOLE, WHOLE_LINES, fold

TEXTS = st.one_of(
    st.text(),
    st.builds(lambda piece, n: piece * n, st.text(min_size=1, max_size=40), st.integers(0, 3000)),
)


@given(TEXTS)
def test_the_three_parts_are_the_text(text: str) -> None:
    folded = fold(text)

    assert folded.head + folded.middle + folded.tail == text
    assert folded.length == len(text)


@given(TEXTS)
def test_what_is_shown_at_once_is_bounded(text: str) -> None:
    folded = fold(text)

    assert len(folded.head) <= max(WHOLE, HEAD)
    assert len(folded.tail) <= TAIL


@pytest.mark.parametrize("text", ["", "x" * WHOLE, "\n" * (WHOLE_LINES - 1)])
def test_short_text_is_whole(text: str) -> None:
    assert fold(text).middle == ""


def test_cuts_are_at_line_ends_where_there_are_any() -> None:
    folded = fold("".join(f"line {i}\n" for i in range(5000)))

    assert folded.head.endswith("\n")
    assert folded.tail.startswith("line ")
    assert folded.is_far


def test_many_short_lines_are_folded_too() -> None:
    folded = fold("x\n" * 500)

    assert folded.head.count("\n") < WHOLE_LINES
    assert folded.middle
    assert not folded.is_far


@given(st.text(alphabet="äb \n", min_size=1, max_size=300), st.integers(16_001, 200_000))
def test_a_text_of_which_only_both_ends_are_at_hand_is_shown_as_the_whole_one(
    piece: str, length: int
) -> None:
    text = (piece * (length // len(piece) + 1))[:length]
    whole, ends = fold(text), fold(text[:8_000] + text[-8_000:], length - 16_000)

    assert (ends.head, ends.tail, ends.length) == (whole.head, whole.tail, whole.length)
    assert (ends.is_far, ends.is_very_long) == (whole.is_far, whole.is_very_long)
