import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.search.words import spans, split, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running, twice!", ["running", "twice"]),
        ("foo_bar.baz()", ["foo", "bar", "baz"]),
        ("https://example.com/a?b=1", ["https", "example", "com", "a", "b", "1"]),
        ("C C++ C#", ["c", "c", "u2b", "c", "u23"]),
        ("# Title", ["title"]),
        ("3.14 1e5 0x1f", ["3", "14", "1e5", "0x1f"]),
        ("ÉCOLE Straße", ["ecole", "strasse"]),
        ("e\u0301 ünïcödé Đặng", ["e", "unicode", "đang"]),
        ("\uff32\uff35\uff2e ﬁne ½", ["run", "fine", "1", "2"]),
        ("東京の人口", ["東", "京", "の", "人", "口"]),
        ("한국", ["한", "국"]),
        ("й ё ή", ["й", "ё", "ή"]),
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
def test_a_text_split_place_by_place_has_the_same_words(text: str) -> None:
    places = split(text)

    assert " ".join(places).split() == [word.text for word in words(text)]
    assert len(list(spans(text))) == len(places)
    assert all(0 <= start < end <= len(text) for start, end in spans(text))


def test_the_accents_that_are_not_compared_are_kept_beside_the_word() -> None:
    assert list(words("Ünïcödé")) == [("unicode", "ünïcödé")]


@given(st.text())
def test_splitting_words_again_changes_nothing(text: str) -> None:
    once = [word.text for word in words(text)]

    assert [word.text for word in words(" ".join(once))] == once
