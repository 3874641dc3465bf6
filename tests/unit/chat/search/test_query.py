import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.transcripts.query import MOST_CHARACTERS, Query, QueryError, parse, plain


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
        ("foo:bar", "foo:bar: there is no field 'foo'. The fields are policy, tool, user"),
        ("foo:bar", 'quote them: "foo:bar"'),
        ("tool:", "tool: names no tool"),
        ('tool:""', 'tool:"" names no tool'),
        ("cat !!!", "!!! holds nothing to search for"),
        ("cat -", "- holds nothing to search for"),
        ('""', '"" holds nothing to search for'),
        ("x" * (MOST_CHARACTERS + 1), "The query has 1,001 characters"),
        ("x " * 40, "The query has 40 parts"),
    ],
)
def test_what_cannot_be_searched_for_is_named(text: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(text)

    assert message in str(raised.value)


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
