"""Operators that other search languages have and this one has not.

Punctuation is not compared, and `or` is a word like any other, so a query that uses them would be
answered as if it had said something else.
"""

import re

_EVERY = "every word of a query has to stand in the turn"
_EITHER = "Only a field that is named twice, as in tool:a tool:b, means either of its values"
_WHOLE = "a word is found in its English forms, and not by a piece of it"

_UNKNOWN = (
    (r"OR|.*\w\|+\w.*", f"there is no OR: {_EVERY}. {_EITHER}"),
    (r"AND", f"AND is not needed: {_EVERY}"),
    (r"NOT|!\w.*", "there is no NOT: write -word to leave out what holds the word"),
    (r"\(.*", f"there are no parentheses: {_EVERY}"),
    (r".*(\w\*|\*\w).*", f"there is no *: {_WHOLE}"),
    (r".*\w~\d*(\.\d+)?", f"there is no ~: {_WHOLE}"),
    (r".*\w\^\d+(\.\d+)?", "there is no ^: the newest turn comes first, and no word counts more"),
    (r"/[^/]+/[imsx]*", "there are no regular expressions: whole words are compared"),
)
_BEHIND_QUOTES = (
    (r"~\d+", "there is no ~: the words of a phrase stand one behind the other"),
    (r"\^\d+(\.\d+)?", "there is no ^: the newest turn comes first, and no word counts more"),
)


def unknown_operator(clause: str, *, follows_quotes: bool) -> str:
    """Return what is to be said of a clause without quotes and minus; empty if it is only words.

    `follows_quotes` says that it stands directly behind a phrase.
    """
    patterns = _UNKNOWN + (_BEHIND_QUOTES if follows_quotes else ())
    return next((said for pattern, said in patterns if re.fullmatch(pattern, clause)), "")
