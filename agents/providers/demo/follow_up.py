"""Questions that lean on the one before: "And in Paris?" after the time in Tokyo."""

import re
from collections.abc import Iterable

_FOLLOWS = re.compile(
    r"(?:and|or|then|what about|how about|and what about)"
    r"(?: (?:in|at|for|to|into))? (?P<what>[a-zµ°][\w/ .'²³°-]{0,39}?)[\s?.!]*",
    re.IGNORECASE,
)
_PLACE_ASKED = re.compile(
    r"(?P<before>.*\b(?:time|date|day)\b.* (?:in|at|for)) [a-z][\w/ .'-]{1,39}?[\s?.!]*",
    re.IGNORECASE,
)
_UNIT_ASKED = re.compile(
    r"(?P<before>.*\d.* (?:in|to|into|as)) [a-zµ°][\w/²³° ]{0,19}?[\s?.!]*", re.IGNORECASE
)
_LONGEST = 200


def meant(goal: str, questions: Iterable[str]) -> str:
    """Return the question that is meant by the last one of a thread; mostly it says so itself."""
    said = ""
    for question in (*questions, goal):
        said = _carried(" ".join(question.split()), said) or question
    return said


def _carried(question: str, before: str) -> str:
    """Return the question before with its place or its unit replaced, nothing if it has none."""
    follows = _FOLLOWS.fullmatch(question[:_LONGEST])
    for asked in (_PLACE_ASKED, _UNIT_ASKED):
        found = asked.fullmatch(before[:_LONGEST])
        if follows and found:
            return f"{found['before']} {follows['what']}?"
    return ""
