"""Read a thought and an action out of plain language, with labels or without."""

import re
from itertools import islice
from typing import Any, NamedTuple

from agents.errors import ParseError
from agents.reading.json_repair import read_object
from agents.reading.structured.fields import NamedAction, loose_value

LABELLED, UNLABELLED = 0.7, 0.5

_LABEL = re.compile(
    r"^[ \t>#*_-]{0,8}(?P<name>thought|thinking|reasoning|action[ \t_-]{0,3}input|action"
    r"|param(?:eter)?s?|final[ \t_-]{0,3}answer|observation)[*_`]{0,3}[ \t]{0,3}[:\uff1a]"
    r"[*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_THINKS = re.compile(
    r"^[ \t]{0,20}(?P<text>(?:I think|I need to|I should|I will|I'll|Let me|First,? I)\b"
    r"[^.!?]{0,500}[.!?])",
    re.IGNORECASE | re.MULTILINE,
)
_USES = re.compile(
    r"\b(?:I will|I'll|Let me|Going to)[ \t]{1,3}(?:use|call|execute|run|invoke)[ \t]{1,3}"
    r"(?:the[ \t]{1,3})?(?P<quote>['\"`]?)(?P<tool>\w{1,100})(?P=quote)",
    re.IGNORECASE,
)
_TOOL = re.compile(r"[\s`'\"*\[]{0,8}(?P<name>[\w.-]{1,100})")
_PAIR = re.compile(r"^[ \t]{0,20}(?:[-*][ \t]{1,3})?(?P<name>\w{1,100})[ \t]{0,3}[:=]", re.M)
_NAMED = re.compile(
    r"\b(?P<name>url|link|selector|element|text|query)[ \t]{0,3}[:=]?[ \t]{0,3}"
    r"(?:\"(?P<double>[^\"\n]{1,2000})\"|'(?P<single>[^'\n]{1,2000})'"
    r"|(?P<bare>https?://[^\s\"']{1,2000}|#[\w-]{1,200}))",
    re.IGNORECASE,
)
_NAMES = {"link": "url", "element": "selector"}
_NOT_LETTERS = re.compile(r"[^a-z]+")
_NO_TOOL = frozenset({"none", "null", "nothing", "na"})
_PAIRS = 100


class Said(NamedTuple):
    """What plain language says, and how certain the thought in it is one."""

    thought: str | None
    action: NamedAction | None
    confidence: float


def read_prose(text: str) -> Said:
    """Return the thought and the action; the first of each label counts.

    An invented observation ends the reply. A final answer is the action `complete`.
    """
    parts = _labelled(text)
    thought = parts.get("thought")
    if thought:
        return Said(thought, _action(parts, text), LABELLED)
    found = _THINKS.search(text)
    unlabelled = None if found is None else found["text"].strip()
    return Said(unlabelled, _action(parts, text), UNLABELLED)


def _labelled(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    labels = list(_LABEL.finditer(text))
    for number, label in enumerate(labels):
        name = _plain(label["name"])
        if name == "observation":
            break
        end = labels[number + 1].start() if number + 1 < len(labels) else len(text)
        parts.setdefault(name, text[label.end() : end].strip())
    return parts


def _plain(name: str) -> str:
    bare = _NOT_LETTERS.sub("", name.lower())
    if bare in ("thinking", "reasoning"):
        return "thought"
    return "input" if bare == "actioninput" or bare.startswith("param") else bare


def _action(parts: dict[str, str], text: str) -> NamedAction | None:
    written = parts.get("action", "")
    named = _TOOL.match(written)
    if named is not None and named["name"].lower() not in _NO_TOOL:
        return NamedAction(named["name"], _inputs(parts.get("input") or written[named.end() :]))
    if parts.get("finalanswer"):
        return NamedAction("complete", {"result": parts["finalanswer"]})
    used = None if parts else _USES.search(text)
    return None if used is None else NamedAction(used["tool"], _mentioned(text[used.end() :]))


def _inputs(written: str) -> dict[str, Any]:
    """Return the inputs: a JSON object, else lines of `name: value`."""
    if "{" in written:
        return _object(written)
    found: dict[str, Any] = {}
    pairs = list(islice(_PAIR.finditer(written), _PAIRS))
    for number, pair in enumerate(pairs):
        end = pairs[number + 1].start() if number + 1 < len(pairs) else len(written)
        found[pair["name"]] = loose_value(written[pair.end() : end].strip().strip("\"'`"))
    return found


def _mentioned(text: str) -> dict[str, Any]:
    """Return the inputs as an object, else those that the words name and quote."""
    if "{" in text:
        return _object(text)
    found: dict[str, Any] = {}
    for named in islice(_NAMED.finditer(text), _PAIRS):
        name = named["name"].lower()
        value = named["double"] or named["single"] or named["bare"].rstrip(".,;)")
        found.setdefault(_NAMES.get(name, name), value)
    return found


def _object(written: str) -> dict[str, Any]:
    brace = written.find("{")
    try:
        return {} if brace < 0 else read_object(written, brace).value
    except ParseError:
        return {}
