import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.search.language.fields import QueryError
from chat.search.language.query import MAX_CHARACTERS, Query, parse, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timeout", [("timeout", False, False)]),
        ("Timeout ERROR", [("timeout", False, False), ("error", False, False)]),
        ('"no module"', [("no module", False, True)]),
        ("“no module”", [("no module", False, True)]),
        ('"left open', [("left open", False, True)]),
        ("-timeout", [("timeout", True, False)]),
        ('-"no module"', [("no module", True, True)]),
        ("--verbose", [("verbose", False, False)]),
        ("well-known", [("well known", False, True)]),
        ("foo_bar.baz()", [("foo bar baz", False, True)]),
        ('read("a.csv")', [("read a csv", False, True)]),
        ("https://ex.com/a", [("https ex com a", False, True)]),
        ("std::vector", [("std vector", False, True)]),
        ("TypeError:", [("typeerror", False, False)]),
        ("a\x00b", [("a", False, False), ("b", False, False)]),
        ("C++", [("c u2b", False, True)]),
    ],
)
def test_words_and_phrases_are_understood(
    text: str, expected: list[tuple[str, bool, bool]]
) -> None:
    terms = parse(text).terms

    assert [(" ".join(t.words), t.is_negative, t.is_exact) for t in terms] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool:calculator", ("tool", "calculator", False)),
        ("TOOL:calculator", ("tool", "calculator", False)),
        ('user:"ann lee"', ("user", "ann lee", False)),
        ('policy:"explicit', ("policy", "explicit", False)),
        ("-status:failed", ("status", "failed", True)),
        ("run:12", ("run", "12", False)),
    ],
)
def test_fields_are_understood(text: str, expected: tuple[str, str, bool]) -> None:
    (clause,) = parse(text).fields

    assert (clause.name, clause.value, clause.is_negative) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo:bar", "foo:bar: there is no field 'foo'. The fields are policy, status, run, "),
        ("foo:bar", 'quote them: "foo:bar"'),
        ("tool:", "tool: names no tool"),
        ('tool:""', 'tool:"" names no tool'),
        ("cat !!!", "!!! holds nothing to search for"),
        ("cat -", "- holds nothing to search for"),
        ('""', '"" holds nothing to search for'),
        ("one OR two", "OR: there is no OR: every word of a query has to stand in the turn."),
        ("one|two", "one|two: there is no OR"),
        ("one AND two", "AND: AND is not needed"),
        ("NOT one", "NOT: there is no NOT: write -word"),
        ("!one", "!one: there is no NOT"),
        ("(one two) three", "(one: there are no parentheses"),
        ("-(one two)", "-(one: there are no parentheses"),
        ("step*", "step*: there is no *: a word is found in its English forms"),
        ("step*", 'To find just this, quote it: "step*"'),
        ("st*p", "st*p: there is no *"),
        ("*step", "*step: there is no *"),
        ('"step 5"~3', "~3: there is no ~"),
        ("step~2", "step~2: there is no ~"),
        ("step^2", "step^2: there is no ^"),
        ('"step 5"^2', "^2: there is no ^"),
        ("/ste?p/", "/ste?p/: there are no regular expressions"),
        ("-5", '-5 may be a number, or mean "without 5".'),
        ("cold -273.15", 'write 273.15 to find it, or -"273.15" to leave it out.'),
        ("x" * (MAX_CHARACTERS + 1), "The query has 1,001 characters"),
        ("x " * 40, "The query has 40 parts"),
    ],
)
def test_what_cannot_be_searched_for_is_named(text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(text)

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one or two and not three", ["one", "or", "two", "and", "not", "three"]),
        ('"OR" "AND"', ["or", "and"]),
        ('"(a b)"', ["a b"]),
        ("read(a, b)", ["read a", "b"]),
        ('"step*" "/re/" "x^2" "a|b"', ["step", "re", "x 2", "a b"]),
        ('"step" ~3', ["step", "3"]),
        ("/usr/bin ~/notes", ["usr bin", "notes"]),
        ('-"5" 5', ["5", "5"]),
        ("-2026-11-22 wow!", ["2026 11 22", "wow"]),
    ],
)
def test_what_only_looks_like_an_operator_is_searched_for(text: str, expected: list[str]) -> None:
    assert [" ".join(term.words) for term in parse(text).terms] == expected


def test_nothing_is_a_query_too() -> None:
    assert parse("  ") == Query()


@given(st.text(max_size=200) | st.text(alphabet="ab:\"- \\&|!()*<>'%_", max_size=60))
@example('tool:"')
@example("-" * 50)
def test_any_text_is_understood_or_refused_and_reads_the_same_again(text: str) -> None:
    try:
        query = parse(text)
    except QueryError:
        return

    assert parse(str(query)) == query


@given(st.text())
def test_any_text_can_be_taken_as_bare_words(text: str) -> None:
    assert not plain(text).fields


def test_a_query_can_be_narrowed() -> None:
    query = parse('timeout "no module"')

    assert query.narrowed("user", "ann lee") == 'timeout "no module" user:"ann lee"'


def test_a_field_can_be_taken_out() -> None:
    query = parse("tool:calculator timeout -tool:python_repl policy:explicit")

    assert query.without("tool") == "timeout policy:explicit"
