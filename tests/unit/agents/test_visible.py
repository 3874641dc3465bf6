"""What a text hides is marked; all else stays as it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.visible import escape_of, name_of, revealed


@pytest.mark.parametrize(
    "character",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\u00ad",
        "\u00a0",
        "\ufeff",
        "\x1b",
        "\r",
        "\x7f",
        "\U000e0041",
    ],
)
def test_a_character_that_is_not_seen_is_named(character: str) -> None:
    assert revealed(f"a{character}b", name_of) == f"aU+{ord(character):04X}b"


@pytest.mark.parametrize("text", ["", "x = 1\n\ty", "שלום", "日本語", "naïve é", "🙂"])
def test_a_text_that_hides_nothing_stays(text: str) -> None:
    assert revealed(text, name_of) == text


@given(st.text())
def test_an_escape_is_what_json_reads_as_the_character(text: str) -> None:
    for character in text:
        assert json.loads(f'"{escape_of(character)}"') == character


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    assert revealed(revealed(text, name_of), lambda _: "?") == revealed(text, name_of)
