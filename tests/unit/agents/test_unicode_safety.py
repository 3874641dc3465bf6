"""What a text hides is marked; all else stays as it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.unicode_safety import escape_of, name_of, noted, revealed


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("stored \u202elive\u202c", "stored U+202EliveU+202C"),
        ("a\u2066b\u2069", "aU+2066bU+2069"),
        ("שלום \u202eabc", "שלום U+202Eabc"),
        ("pay\u200cpal", "payU+200Cpal"),
        ("pay\u200bpal", "payU+200Bpal"),
        ("é\u200be", "éU+200Be"),
        ("\ufeffimport os", "U+FEFFimport os"),
        ("x = 1 \u200f- 2", "x = 1 U+200F- 2"),
        ("hi\U000e0041\U000e0042", "hiU+E0041U+E0042"),
        ("a\x1b[31mred", "aU+001B[31mred"),
        ("one\rtwo", "oneU+000Dtwo"),
        ("a\u2028b", "aU+2028b"),
        ("50\u00ad%", "50U+00AD%"),
        ("שלום\nx \u200f- 2", "שלום\nx U+200F- 2"),
    ],
)
def test_what_can_deceive_a_reader_is_noted(text: str, shown: str) -> None:
    assert noted(text, name_of) == shown


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # noqa: RUF001 - Persian
        "क्\u200dष",  # Hindi
        "ภาษา\u200bไทย",  # Thai
        "הוא גר ב-C\u200e++\u200e בבית",
        "السعر \u200f50%\u200f فقط",
        "\u061c(١٢٣) عربي",
        "👩\u200d👩\u200d👧 ❤\ufe0f",
        "葛\U000e0100飾区",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "10\u00a0000\u202f€",
        "Silben\u00adtrennung",
        "one\r\ntwo\r\n",
        "def f():\n\treturn 1\n",
        "naïve 日本語 שלום \ue000",
    ],
)
def test_ordinary_prose_of_any_language_is_not_littered(text: str) -> None:
    assert noted(text, name_of) == text


@given(st.text())
def test_a_noted_text_loses_nothing_else(text: str) -> None:
    assert noted(text, lambda character: character) == text
