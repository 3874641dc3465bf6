"""Markdown as a line of plain text, for an excerpt; what is code stays as it is written."""

import re

_CODE = re.compile(r"(`+[^`]+`+)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)\w*[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)
_BULLET = re.compile(r"^([ \t]*)[*+](?=[ \t])", re.MULTILINE)
_INSIDE = r"(?:[^*]|(?<=\s)\*(?=\s))*"
_EMPHASIS = re.compile(rf"(?<![\w*])(\*{{1,3}})(?=[^\s*])({_INSIDE}[^\s*])\1(?![\w*])")
# Of a passage that begins or ends in the middle of what is strong, one half is left.
_HALF = re.compile(r"(?<!\S)\*{2,3}(?=\S)|(?<=[^\s*])\*{2,3}(?=[\s.,;:!?)]|$)")


def unmarked(text: str) -> str:
    """Return the text without the signs of headings, emphasis and code."""
    parts = _CODE.split(_FENCE.sub("", text))
    parts[::2] = map(_prose, parts[::2])
    return "".join(part.strip("`") if n % 2 else part for n, part in enumerate(parts))


def _prose(text: str) -> str:
    text = _BULLET.sub(r"\1-", _HEADING.sub("", text))
    for _ in range(2):  # what is strong may hold what is emphasised
        text = _EMPHASIS.sub(r"\2", text)
    return _HALF.sub("", text)
