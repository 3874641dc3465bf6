"""Bring to light what a text hides: characters that are not seen, or that turn others around.

What a person allows must be what they see (compare "Trojan Source", arXiv 2111.00169): there each
such character is marked. What is only read may be prose of any language, in which some of them do
ordinary work; there a character is marked where it can deceive and left where it belongs.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

_SEEN = frozenset(" \n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def revealed(text: str, mark: Callable[[str], str]) -> str:
    """Return the text with each hidden character replaced by its mark."""
    hidden = {character for character in set(text) if _is_hidden(character)}
    return text.translate({ord(character): mark(character) for character in hidden})


def noted(text: str, mark: Callable[[str], str]) -> str:
    """Return the text with each hidden character that is out of place replaced by its mark.

    Never in place are those that turn text around (overrides, embeddings, isolates), controls, tags
    and the like. A sign for one direction is in place on a line with right-to-left letters; what
    joins or parts letters beside a letter that is not Latin, as in Persian, Hindi, Thai or an emoji
    of several; a soft hyphen between letters; a carriage return before a line feed. No-break and
    other spaces are seen as spaces, and private letters as boxes.
    """
    if _PLAIN.fullmatch(text):
        return text  # most texts of machines; this looks seven times as fast
    return _SUSPECT.sub(lambda found: found[0] if _is_in_place(found) else mark(found[0]), text)


def escape_of(character: str) -> str:
    """Return a character as JSON escapes it, such as \\u202e."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def name_of(character: str) -> str:
    """Return a character's number as Unicode writes it, such as U+202E."""
    return f"U+{ord(character):04X}"


def _is_hidden(character: str) -> bool:
    return character not in _SEEN and unicodedata.category(character) in _HIDDEN


_PLAIN = re.compile("[\t\n -~]*")
_SIGNS = "\u061c\u200e\u200f"
_JOINERS = "\u200b\u200c\u200d\u2060\ufeff"
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
"""A region's flag, such as Scotland's, is written in tags."""
_SUSPECT = re.compile(
    f"{_FLAG}|[{_SIGNS}{_JOINERS}\u00ad\r"
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls
    "\u202a-\u202e\u2066-\u206f"  # turn text around
    "\u180e\u2028\u2029\u2061-\u2065\ufff0-\ufffb\U000e0000-\U000e0fff]"  # are not seen
)
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u05ff\u0600-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_VARIATIONS = range(0xE0100, 0xE01F0)
"""Forms of a Chinese character, in the same block as the tags."""


def _is_in_place(found: re.Match[str]) -> bool:
    character, text = found[0], found.string
    if len(character) > 1:
        return True  # a flag
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if character in _SIGNS:
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end())
        return _RIGHT_TO_LEFT.search(text, start, len(text) if end < 0 else end) is not None
    if character in _JOINERS:
        return _may_be_joined(before) or _may_be_joined(after)
    if ord(character) in _VARIATIONS:
        return _may_be_joined(before)
    if character == "\u00ad":
        return before.isalpha() and after.isalpha()
    return character == "\r" and after == "\n"


@cache
def _may_be_joined(character: str) -> bool:
    """Tell whether it is a letter, mark or picture beyond Latin: what joiners are made for."""
    return character > "\u024f" and unicodedata.category(character)[0] in "LMS"
