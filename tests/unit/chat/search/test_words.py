from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcripts.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running, twice!", ["running", "twice"]),
        ("foo_bar.baz()", ["foo", "bar", "baz"]),
        ("https://example.com/a?b=1", ["https", "example", "com", "a", "b", "1"]),
        ("C C++ C#", ["c", "c", "u2b", "c", "u23"]),
        ("# Title", ["title"]),
        ("3.14 1e5 0x1f", ["3", "14", "1e5", "0x1f"]),
        ("ÉCOLE Straße", ["école", "strasse"]),
        ("e\u0301", ["é"]),
        ("\uff32\uff35\uff2e ﬁne ½", ["run", "fine", "1", "2"]),
        ("東京の人口", ["東", "京", "の", "人", "口"]),
        ("한국", ["한", "국"]),
        ("مرحبا بك", ["مرحبا", "بك"]),
        ("किताब", ["किताब"]),
        ("go 🚀!", ["go", "u1f680"]),
        ("❤️", ["u2764"]),
        ("👩‍🚀", ["u1f469", "u1f680"]),
        ("!?. --", []),
        ("a\x00b\ud800c", ["a", "b", "c"]),
    ],
)
def test_text_is_split_into_what_is_compared(text: str, expected: list[str]) -> None:
    assert [word.text for word in words(text)] == expected


@given(st.text())
def test_a_word_says_where_it_stands(text: str) -> None:
    found = list(words(text))

    assert all(0 <= word.start < word.end <= len(text) for word in found)
    assert all(one.start <= other.start for one, other in pairwise(found))


@given(st.text())
def test_splitting_words_again_changes_nothing(text: str) -> None:
    once = [word.text for word in words(text)]

    assert [word.text for word in words(" ".join(once))] == once
