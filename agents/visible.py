"""Bring to light what a text hides: characters that are not seen, or that turn others around.

What a person allows must be what they see (compare "Trojan Source", arXiv 2111.00169).
"""

import unicodedata
from collections.abc import Callable

_SEEN = frozenset(" \n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def revealed(text: str, mark: Callable[[str], str]) -> str:
    """Return the text with each hidden character replaced by its mark."""
    hidden = {character for character in set(text) if _is_hidden(character)}
    return text.translate({ord(character): mark(character) for character in hidden})


def escape_of(character: str) -> str:
    """Return a character as JSON escapes it, such as \\u202e."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def name_of(character: str) -> str:
    """Return a character's number as Unicode writes it, such as U+202E."""
    return f"U+{ord(character):04X}"


def _is_hidden(character: str) -> bool:
    return character not in _SEEN and unicodedata.category(character) in _HIDDEN
