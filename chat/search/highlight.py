"""Show where a text fits a query: the passage around the first match, cut into marked pieces.

Postgres' own ts_headline splits text in a way that search does not (see `words`), and would mark
neither `foo_bar.baz()` nor C++ nor an emoji. Pieces are plain text: templates escape them.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice

from django.db import connection

from chat.search.language.query import Query, Term
from chat.search.plain_text import unmarked
from chat.search.words import spans, split

BEFORE = 40
LENGTH = 240
MAX_FORMS = 4_000
MARKDOWN = frozenset({"answer"})
"""The parts of a turn that are shown as Markdown."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text that is, or is not, what was searched for."""

    text: str
    is_match: bool = False


@dataclass(frozen=True)
class Excerpt:
    """The passage of a turn that shows the match; `part` names where it stands."""

    part: str
    pieces: Sequence[Piece]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class Marker:
    """Find the words and phrases of one query in texts; exact about forms, for those it has seen.

    Give it all texts at once: which words of theirs are forms of those asked for takes one question
    to Postgres. Whatever the text and the query, the work grows with the length of the text only:
    both are sequences of words, and one is looked for in the other as a string.
    """

    def __init__(self, query: Query, texts: Iterable[str]) -> None:
        self._lines = {text: _WordLine(text) for text in texts} if query.wanted else {}
        self._terms = _sayings(query.wanted, self._lines.values())

    def excerpt(self, parts: Iterable[tuple[str, str]]) -> Excerpt:
        """Return the passage of the part that shows most of the query; the first part if none."""
        held = [(name, text) for name, text in parts if text.strip()]
        if not held:
            return Excerpt("", [])
        name, text = max(held, key=lambda part: len(self._found(part[1])))
        passage = self._passage(text)
        return Excerpt(
            name, self.mark(_one_line(unmarked(passage) if name in MARKDOWN else passage))
        )

    def mark(self, text: str) -> list[Piece]:
        """Cut a text into pieces that match and pieces that do not."""
        pieces: list[Piece] = []
        end = 0
        for start, stop in self._marks(text):
            if start > end:
                pieces.append(Piece(text[end:start]))
            pieces.append(Piece(text[start:stop], is_match=True))
            end = stop
        return [*pieces, Piece(text[end:])] if end < len(text) else pieces

    def _marks(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where matches begin and end, in order; those that overlap are one."""
        line, places = _WordLine(text), list(spans(text))
        found = sorted(at for term in self._terms for said in term for at in line.all_of(said))
        for first, last in _joined(found):
            yield places[first][0], places[last][1]

    def _found(self, text: str) -> list[int]:
        """Return where in the text's line each term that it holds is said first."""
        if not self._terms:
            return []
        line = self._line(text)
        firsts = ([at for said in term if (at := line.find(said)) >= 0] for term in self._terms)
        return [min(found) for found in firsts if found]

    def _passage(self, text: str) -> str:
        """Return twice LENGTH characters that begin shortly before the first match."""
        found = self._found(text)
        at = self._line(text).start_of(min(found)) if found else 0
        start = max(0, at - BEFORE)
        if start:
            before = text[start:at]
            start += next((n + 1 for n, letter in enumerate(before) if letter.isspace()), 0)
        return f"{'… ' if start else ''}{text[start : start + 2 * LENGTH]}"

    def _line(self, text: str) -> "_WordLine":
        return self._lines.get(text) or _WordLine(text)


class _WordLine:
    """The words of a text as one string, in which words and phrases are looked for as strings."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.places = split(text)
        self._line = f" {' '.join(self.places)} "

    def find(self, said: str, start: int = 0) -> int:
        """Return where in the line the words are said next, -1 where they are not."""
        return self._line.find(f" {said} ", start)

    def all_of(self, said: str) -> Iterator[tuple[int, int]]:
        """Yield the first and the last place of each time that the words are said."""
        at = self.find(said)
        while at >= 0:
            last = at + len(said)
            yield self._place(at), self._place(last - 1)
            at = self.find(said, last)

    def start_of(self, at: int) -> int:
        """Return where in the text the word at `at` in the line begins."""
        return next(islice(spans(self._text), self._place(at), None))[0]

    def _place(self, at: int) -> int:
        return bisect_right(self._ends, at)

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(place) + 1 for place in self.places))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LENGTH else line[:LENGTH].rstrip() + " …"


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the stretches (first, last) that overlap; they come sorted."""
    joined: list[tuple[int, int]] = []
    for first, last in stretches:
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined


def _sayings(terms: Sequence[Term], lines: Collection[_WordLine]) -> list[list[str]]:
    """Return for each term everything that the lines may say for it."""
    said = [{" ".join(term.words)} for term in terms]
    forms = _forms({term.words[0] for term in terms if not term.is_exact}, lines)
    for term, sayings in zip(terms, said, strict=True):
        if not term.is_exact:
            sayings |= forms[term.words[0]]
        if term.day:
            *before, _ = term.words
            days = {place for line in lines for place in line.places if place.startswith(term.day)}
            sayings |= {" ".join((*before, day)) for day in days}
    return [sorted(sayings) for sayings in said]


def _forms(asked: set[str], lines: Iterable[_WordLine]) -> dict[str, set[str]]:
    """Return for each word the words of the lines that have the same English stem."""
    if not asked:
        return {}
    initials = {word[0] for word in asked}
    seen = {place for line in lines for place in line.places if place[0] in initials}
    everything = sorted(asked) + sorted(seen - asked)[:MAX_FORMS]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT word, ts_lexize('english_stem', word) FROM unnest(%s::text[]) AS word",
            [everything],
        )
        stems = {word: (stem or [word])[0] for word, stem in cursor.fetchall()}
    return {word: {other for other in seen if stems.get(other) == stems[word]} for word in asked}
