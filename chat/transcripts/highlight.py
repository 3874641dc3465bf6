"""Show where a text fits a query: the passage around the first match, cut into marked pieces.

Postgres' own ts_headline splits text in a way that search does not (see `words`), and would mark
neither `foo_bar.baz()` nor C++ nor an emoji. Pieces are plain text: templates escape them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection

from chat.transcripts.query import Query, Term

BEFORE = 40
LENGTH = 240
MOST_FORMS = 4_000

_LETTER = r"[^\W_]"


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
    to Postgres. A word that is only equal after folding (a ligature, full width) is not marked.
    """

    def __init__(self, query: Query, texts: Iterable[str]) -> None:
        forms = _forms([term for term in query.wanted if not term.is_exact], texts)
        self._terms = [
            re.compile(_pattern(term, forms), re.IGNORECASE)
            for term in sorted(query.wanted, key=lambda term: -len(term.words))
        ]
        either = "|".join(f"(?:{term.pattern})" for term in self._terms)
        self._any = re.compile(either or "(?!)", re.IGNORECASE)

    def excerpt(self, parts: Iterable[tuple[str, str]]) -> Excerpt:
        """Return the passage of the part that shows most of the query; the first part if none."""
        held = [(name, text) for name, text in parts if text.strip()]
        if not held:
            return Excerpt("", [])
        name, text = max(held, key=lambda part: sum(1 for t in self._terms if t.search(part[1])))
        return Excerpt(name, self.mark(self._passage(text)))

    def mark(self, text: str) -> list[Piece]:
        """Cut a text into pieces that match and pieces that do not."""
        pieces: list[Piece] = []
        end = 0
        for match in self._any.finditer(text):
            if match.start() > end:
                pieces.append(Piece(text[end : match.start()]))
            if match.group():
                pieces.append(Piece(match.group(), is_match=True))
            end = match.end()
        return [*pieces, Piece(text[end:])] if end < len(text) else pieces

    def _passage(self, text: str) -> str:
        """Return one line of about LENGTH characters that begins shortly before the first match."""
        match = self._any.search(text)
        at = match.start() if match is not None else 0
        start = max(0, at - BEFORE)
        if start:
            space = re.search(r"\s", text[start:at])
            start += space.end() if space is not None else 0
        line = " ".join(text[start : start + 2 * LENGTH].split())
        cut = line if len(line) <= LENGTH else line[:LENGTH].rstrip() + " …"
        return f"… {cut}" if start else cut


def _pattern(term: Term, forms: dict[str, set[str]]) -> str:
    if term.is_exact:
        return r"[\W_]{0,40}?".join(_whole(re.escape(s), s) for s in term.surfaces)
    written = term.surfaces[0]
    choices = sorted({written, *forms.get(term.words[0], ())}, key=len, reverse=True)
    return _whole(f"(?:{'|'.join(map(re.escape, choices))})", written)


def _whole(pattern: str, surface: str) -> str:
    """Let a word match only whole; a character that is a word by itself has no such borders."""
    if not surface.isalnum() or (len(surface) == 1 and not surface.isascii()):
        return pattern
    return f"(?<!{_LETTER}){pattern}(?!{_LETTER})"


def _forms(terms: Sequence[Term], texts: Iterable[str]) -> dict[str, set[str]]:
    """Return for each word the words of the texts that have the same English stem."""
    asked = {term.words[0] for term in terms}
    initials = "".join({re.escape(word[0]) for word in asked})
    if not initials:
        return {}
    alike = re.compile(f"(?<!{_LETTER})[{initials}]{_LETTER}*", re.IGNORECASE)
    seen = {surface.lower() for text in texts for surface in alike.findall(text)}
    everything = sorted(asked) + sorted(seen - asked)[:MOST_FORMS]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT word, ts_lexize('english_stem', word) FROM unnest(%s::text[]) AS word",
            [everything],
        )
        stems = {word: (stem or [word])[0] for word, stem in cursor.fetchall()}
    return {word: {other for other in seen if stems.get(other) == stems[word]} for word in asked}
