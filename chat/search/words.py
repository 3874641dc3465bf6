"""Split text into the words that search compares, stored text and queries alike.

Postgres' own parser keeps `foo_bar.baz` as a host name, drops emoji and `++`, and depends on the
locale of the database, so it only ever gets words split here. Punctuation separates and is not
compared. Scripts written without spaces, and Korean, go character by character, so that any piece
of such text is found as a phrase. A pictograph is a word of its own, `u1f600`; so are the `++` and
`#` behind a letter, which tell C, C++ and C# apart. Accents of Latin letters are not compared.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# Thai, Lao, Myanmar, Khmer, kana, Han, Hangul and their extensions.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_VARIATION_SELECTORS = (0xFE00, 0xFE0F)


class Word(NamedTuple):
    """A word as it is compared, and as it is written with the accents of its Latin letters."""

    text: str
    accented: str


def words(text: str) -> Iterator[Word]:
    """Yield the words of `text` in order; one place may give several (a ligature, a fraction)."""
    for place in _WORD.findall(text):
        for piece in _pieces(place):
            yield Word(_without_accents(piece), piece)


def split(text: str) -> list[str]:
    """Return what `words` compares, place by place; the words of one place stand in one string.

    Much faster than `words` for long texts: each different word is folded once.
    """
    places = _WORD.findall(text)
    folded = {place: _without_accents(" ".join(_pieces(place))) for place in set(places)}
    return [folded[place] for place in places]


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each place of `split(text)` begins and ends."""
    return (match.span() for match in _WORD.finditer(text))


def _pieces(place: str) -> list[str]:
    if place.isascii() and place.isalnum():
        return [place.lower()]
    if _SYMBOLS.match(place):
        return [f"u{ord(place[0]):x}"]
    return _PIECE.findall(_fold(place))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    apart = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", apart)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _classes() -> tuple[str, str, str]:
    """Return the character classes of spaced letters, unspaced letters and symbols."""
    unspaced = {code for low, high in _UNSPACED for code in range(low, min(high, 0x1FFFF) + 1)}
    spaced: list[int] = []
    single: list[int] = []
    symbols: list[int] = []
    for code in range(0x20000):
        category = unicodedata.category(chr(code))
        if category == "So":
            symbols.append(code)
        elif category[0] in "LNM" and not _is_variation_selector(code):
            (single if code in unspaced else spaced).append(code)
    return _ranges(spaced), _ranges(single) + "\U00020000-\U0003ffff", _ranges(symbols)


def _is_variation_selector(code: int) -> bool:
    return _VARIATION_SELECTORS[0] <= code <= _VARIATION_SELECTORS[1]


def _ranges(codes: list[int]) -> str:
    """Write sorted code points as the inside of a character class."""
    parts: list[list[int]] = []
    for code in codes:
        if parts and code == parts[-1][1] + 1:
            parts[-1][1] = code
        else:
            parts.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in parts)


_SPACED, _SINGLE, _SYMBOL = _classes()
# The great classes are slow to say no, so what is ASCII is decided before they are asked.
_WORD = re.compile(
    rf"""(?=[0-9A-Za-z+#]|[^\x00-\x7f])
    (?:[0-9A-Za-z]++(?![^\x00-\x7f])|[{_SINGLE}]|[{_SYMBOL}]|[{_SPACED}]+
    |(?<=[{_SPACED}])(?:\+\+|\#))""",
    re.VERBOSE,
)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_SYMBOLS = re.compile(rf"[{_SYMBOL}+#]")
_PIECE = re.compile(rf"[{_SPACED}]+|[{_SINGLE}]")
