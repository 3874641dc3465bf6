r"""The query language of search: words, "phrases", -not, and fields such as tool:calculator.

Every clause has to hold, but a field named twice means either of its values. A bare word finds its
English forms too; what is quoted, or held together by punctuation as in `foo_bar.baz()`, has to
stand there word by word. Nothing in a query is dropped in silence: what cannot be searched for is
a `QueryError` that names the clause.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

from django.contrib.postgres.search import CombinedSearchQuery, SearchQuery
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler

from chat.search.language.fields import FIELDS, PARTS, FieldClause, QueryError
from chat.search.language.operators import unknown_operator
from chat.search.words import words

MAX_CHARACTERS = 1_000
MAX_CLAUSES = 32

Match = SearchQuery | CombinedSearchQuery

_QUOTES = str.maketrans("“”„‟«»\x00", '"""""" ')
_ENDS_IN_A_DATE = re.compile(r"(^|-)[0-9]{4}-[0-9]{2}-[0-9]{2}$")
_NUMBER = re.compile(r"\d+([.,]\d+)*%?")
_CLAUSE = re.compile(
    r"""
    (?P<is_negative> - (?!-) (?=\S) )?
    (?: (?P<field> [A-Za-z_]+ ) : (?! // | : ) (?: "(?P<quoted> [^"]* )"? | (?P<value> [^\s"]* ) )
      | "(?P<phrase> [^"]* )"?
      | (?P<word> \S+ )
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Term:
    """A word or a phrase; `words` are as they are compared.

    An exact one is matched word by word, any other is one word that is matched in all its forms.
    Turns that were indexed before accents were left out hold the words as they are `accented`.
    """

    text: str
    is_negative: bool
    words: tuple[str, ...]
    accented: tuple[str, ...]
    is_exact: bool

    @property
    def spellings(self) -> tuple[tuple[str, ...], ...]:
        """Return the words without and with their accents where that differs."""
        return tuple(dict.fromkeys((self.words, self.accented)))

    @property
    def day(self) -> str:
        """Return how the last word may begin: the day of a time, as in 2026-11-22T18:00:00Z."""
        return f"{self.words[-1]}t" if _ENDS_IN_A_DATE.search("-".join(self.words)) else ""

    def match(self, weights: str = "") -> Match:
        """Return the term as a Postgres query; of words with one of the weights, if there are."""
        found: list[Match] = [
            SearchQuery(_behind(words, weights), config="simple", search_type="raw")
            if self.is_exact
            else Stemmed(_behind(words, weights), config="english", search_type="raw")
            for words in self.spellings
        ]
        if self.day:
            timed = _behind((*self.words[:-1], self.day), weights, last="*")
            found.append(SearchQuery(timed, config="simple", search_type="raw"))
        if not self.is_negative:
            return reduce(or_, found)
        return reduce(and_, (~one for one in found))  # type: ignore[return-value] # stubs


@dataclass(frozen=True)
class Query:
    """A query that was understood; `clauses` are in the order they were written."""

    clauses: tuple[Term | FieldClause, ...] = ()

    def __str__(self) -> str:
        return " ".join(clause.text for clause in self.clauses)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the words and phrases."""
        return tuple(clause for clause in self.clauses if isinstance(clause, Term))

    @property
    def wanted(self) -> tuple[Term, ...]:
        """Return the words and phrases that a turn has to hold."""
        return tuple(term for term in self.terms if not term.is_negative)

    @property
    def fields(self) -> tuple[FieldClause, ...]:
        """Return the field clauses."""
        return tuple(clause for clause in self.clauses if isinstance(clause, FieldClause))

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of a turn that words are looked for in; none when in all of it."""
        return tuple(clause.value.lower() for clause in self.fields if clause.name == "in")

    def match(self, weights: str | None = None) -> Match | None:
        """Return what a turn's words have to match, None when any will do.

        Without `weights` the words count that are said in `parts`.
        """
        if weights is None:
            weights = "".join(sorted({PARTS[part] for part in self.parts}))
        matches = [term.match(weights) for term in self.terms]
        return reduce(and_, matches) if matches else None

    def narrowed(self, name: str, value: str) -> str:
        """Return the query with the clause `name:value` added."""
        quoted = f'"{value}"' if re.search(r'[\s"]', value) or not value else value
        return f"{self} {name}:{quoted}".strip()

    def without(self, name: str) -> str:
        """Return the query without its clauses on a field."""
        kept = (c for c in self.clauses if not (isinstance(c, FieldClause) and c.name == name))
        return str(Query(tuple(kept)))


class Stemmed(SearchQuery):
    """A word's English stem; for a word that English search ignores (the, is), the word itself."""

    invert: bool

    def as_sql(  # type: ignore[override] # the stubs leave out what Django passes
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[Any]]:
        """Compile to SQL in which the word is a parameter twice."""
        plain = self.copy()
        plain.invert = False
        stem, stem_params = super(Stemmed, plain).as_sql(compiler, connection)
        word, word_params = compiler.compile(
            SearchQuery(self.get_source_expressions()[1], config="simple", search_type="raw")
        )
        sql = f"COALESCE(NULLIF({stem}, ''::tsquery), {word})"
        return f"!!({sql})" if self.invert else sql, [*stem_params, *word_params]


def parse(text: str) -> Query:
    """Understand a query; raises QueryError, never anything else, whatever the text."""
    if len(text) > MAX_CHARACTERS:
        raise QueryError(
            f"The query has {len(text):,} characters; {MAX_CHARACTERS:,} is the most. "
            "A few words that stand near each other find a turn best."
        )
    clauses = tuple(_clauses(text.encode(errors="replace").decode().translate(_QUOTES)))
    if len(clauses) > MAX_CLAUSES:
        raise QueryError(f"The query has {len(clauses)} parts; {MAX_CLAUSES} is the most.")
    query = Query(clauses)
    if query.parts and not query.terms:
        raise QueryError("in: says where words are looked for; write the words beside it.")
    return query


def plain(text: str) -> Query:
    """Take a text as bare words, whatever it holds; no words give an empty query."""
    pieces = (piece for piece in text.encode(errors="replace").decode().split() if _has_word(piece))
    return Query(tuple(_term(piece, piece, False, False) for piece in pieces))


def _clauses(text: str) -> Iterator[Term | FieldClause]:
    for found in _CLAUSE.finditer(text):
        clause, is_negative = found.group(), found["is_negative"] is not None
        if found["field"] is not None and not _is_heading(found):
            yield _field(clause, is_negative, found)
        elif found["phrase"] is not None:
            yield _term(_closed(clause), found["phrase"], is_negative, True)
        else:
            bare = clause.removeprefix("-") if is_negative else clause
            _refuse_operators(clause, bare, follows_quotes=text[: found.start()].endswith('"'))
            yield _term(clause, bare, is_negative, False)


def _is_heading(found: re.Match[str]) -> bool:
    """Tell whether `Error:` is a pasted word with its colon rather than a field without a value."""
    return not (found["quoted"] or found["value"]) and found["field"].lower() not in FIELDS


def _refuse_operators(clause: str, bare: str, *, follows_quotes: bool) -> None:
    if clause != bare and _NUMBER.fullmatch(bare):
        raise QueryError(
            f'{clause} may be a number, or mean "without {bare}". Signs are not compared: write '
            f'{bare} to find it, or -"{bare}" to leave it out.'
        )
    said = unknown_operator(bare, follows_quotes=follows_quotes)
    if said:
        quoted = bare.replace('"', "")
        raise QueryError(f'{clause}: {said}. To find just this, quote it: "{quoted}"')


def _field(clause: str, is_negative: bool, found: re.Match[str]) -> FieldClause:
    name = found["field"].lower()
    value = (found["value"] if found["quoted"] is None else found["quoted"]).strip()
    if name not in FIELDS:
        words_of_it = clause.removeprefix("-").replace('"', "")
        raise QueryError(
            f"{clause}: there is no field {name!r}. The fields are {', '.join(FIELDS)}. "
            f'To find these words themselves, quote them: "{words_of_it}"'
        )
    if not value:
        raise QueryError(f"{clause} names no {name}; write it behind the colon.")
    return FieldClause(_closed(clause), is_negative, name, value)


def _term(clause: str, text: str, is_negative: bool, is_quoted: bool) -> Term:
    found = tuple(words(text))
    if not found:
        raise QueryError(
            f"{clause} holds nothing to search for: punctuation is not compared, "
            "only letters, digits and pictographs are."
        )
    return Term(
        text=clause,
        is_negative=is_negative,
        words=tuple(word.text for word in found),
        accented=tuple(word.accented for word in found),
        is_exact=is_quoted or len(found) > 1,
    )


def _behind(words: Sequence[str], weights: str, last: str = "") -> str:
    """Write words, which hold no sign, that stand one behind the other as raw tsquery."""
    *before, end = words
    sign = f":{weights}" if weights else ""
    marked = [f"'{word}'{sign}" for word in before]
    return " <-> ".join([*marked, f"'{end}'" + (f":{last}{weights}" if last else sign)])


def _closed(clause: str) -> str:
    """Close a quotation mark that was left open, so that clauses can be put together again."""
    return f'{clause}"' if clause.count('"') == 1 else clause


def _has_word(text: str) -> bool:
    return any(True for _ in words(text))
