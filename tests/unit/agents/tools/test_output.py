"""Output is kept whole up to its limit, and by head and tail beyond it."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.text import storable
from agents.tools.output import LIMIT, Output


def _kept(pieces: list[str]) -> str:
    output = Output()
    head = "".join(map(output.add, pieces))
    return head + output.rest()


@pytest.mark.parametrize("length", [0, 1, 59_999, 60_000, 60_001, LIMIT - 1, LIMIT])
@pytest.mark.parametrize("size", [1_000, 7_919, 1_000_000])
def test_what_fits_is_kept_whole(length: int, size: int) -> None:
    text = "".join(str(number % 10) for number in range(length))

    kept = _kept([text[start : start + size] for start in range(0, length, size)])

    assert kept == text


@pytest.mark.parametrize("size", [1, 977, 40_000, 1_000_000])
def test_what_does_not_fit_keeps_head_and_tail(size: int) -> None:
    text = "h" * 60_000 + "m" * 50_000 + "t" * 39_000

    kept = _kept([text[start : start + size] for start in range(0, len(text), size)])

    assert len(kept) <= LIMIT
    assert kept.startswith("h" * 60_000 + "\n[")
    assert kept.endswith("]\n" + "m" * 900 + "t" * 39_000)
    assert "[49,100 of 149,000 characters are left out here]" in kept


def test_memory_stays_bounded_whatever_comes() -> None:
    output = Output()
    tracemalloc.start()

    for _ in range(200):
        output.add("x" * 1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 10_000_000


@given(st.text(alphabet=st.characters() | st.sampled_from("\x00\ud800\udc00")))
def test_any_text_becomes_storable(text: str) -> None:
    made = storable(text)

    assert made.encode("utf-8").decode("utf-8") == made
    assert "\x00" not in made
    assert len(made) <= len(text)


@given(st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_a_storable_text_is_not_touched(text: str) -> None:
    assert storable(text) == text
