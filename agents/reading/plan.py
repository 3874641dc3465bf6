"""Read a plan: its Intent, its Plan and its Tool Calls, with what was thought aloud apart.

The sections come with labels in any case and emphasis; a section that is absent is None, one that
is there but empty or unreadable has no calls. Nothing is raised for any text, and its cost grows
with its length alone.
"""

import json
import re
from typing import Any

from agents.contracts import Value
from agents.reading.calls import PlannedCall, calls_of, find_calls
from agents.reading.thinking import THINK_MARK, part_thinking
from agents.text import storable, unfenced

_NAMES = {"intent": "intent", "plan": "plan", "toolcalls": "calls", "toolcall": "calls"}
_LABEL = re.compile(
    r"^[ \t>]{0,20}(?:\#{1,6}[ \t]{1,9})?(?:\d{1,2}[.)][ \t]{1,9})?[*_`]{0,3}"
    r"(?P<name>intent|plan|tool[ \t_-]{0,3}calls?)[*_`]{0,3}[ \t]{0,9}[:\uff1a][*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_WITHIN_LINE = re.compile(r"(?<=[ \t])(?P<name>Intent|Plan|(?i:tool calls)):")
_NOT_LETTERS = re.compile(r"[^a-z]+")


class CallPlan(Value):
    """What a planning reply says; None for a section that it does not have.

    `unread` is true where there are tool calls that could not be read.
    """

    thoughts: str = ""
    intent: str | None = None
    plan: str | None = None
    calls: tuple[PlannedCall, ...] | None = None
    unread: bool = False


class Execution(Value):
    """A reply that is one JSON object or array: calls to make, a plan, and what there is to say."""

    thoughts: str = ""
    content: str = ""
    intent: str | None = None
    plan: str | None = None
    calls: tuple[PlannedCall, ...] | None = None
    unread: bool = False
    decision: str | None = None
    updated_plan: dict[str, Any] | None = None


def parse_plan(text: str) -> CallPlan:
    """Return the sections of a reply; of a section that occurs twice the first counts."""
    text = storable(text)
    calls_at = _calls_label_end(text)
    thoughts, said = part_thinking(text[:calls_at])
    said += text[calls_at:]  # a mark in the calls is a part of a call
    sections = _Sections(said)
    if not sections.texts:
        return _plan_in_json(parse_execution(text))
    written = sections.texts.get("calls")
    is_unread = sections.calls is None and any(mark in (written or "") for mark in "[{")
    return CallPlan(
        thoughts=thoughts,
        intent=sections.texts.get("intent"),
        plan=sections.texts.get("plan"),
        calls=None if written is None else sections.calls or (),
        unread=is_unread,
    )


def parse_execution(text: str) -> Execution:
    """Return what a JSON reply says; one that is not JSON is all content."""
    thoughts, said = part_thinking(storable(text))
    bare = unfenced(said)
    try:
        found = json.loads(bare, strict=False) if bare[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict | list):
        return Execution(thoughts=thoughts, content=bare)
    fields = {"toolcalls": found} if isinstance(found, list) else _by_plain_name(found)
    written, updated = fields.get("toolcalls"), fields.get("updatedplan")
    content, decision = fields.get("content"), fields.get("nextstepdecision")
    calls = None if written is None else calls_of(written)
    return Execution(
        thoughts=thoughts,
        content=content if isinstance(content, str) else "",
        intent=_text(fields.get("intent")),
        plan=_text(fields.get("plan", fields.get("todolist"))),
        calls=None if written is None else calls or (),
        unread=written is not None and calls is None,
        decision=decision if isinstance(decision, str) else None,
        updated_plan=updated if isinstance(updated, dict) else None,
    )


def _calls_label_end(text: str) -> int:
    """Return where the label of the calls ends that no block of thinking holds."""
    marks = list(THINK_MARK.finditer(text))
    depth = 1 if marks and marks[0][1] else 0
    labels = (label for label in _LABEL.finditer(text) if _NAMES[_plain(label["name"])] == "calls")
    number = 0
    for label in labels:
        while number < len(marks) and marks[number].start() < label.start():
            depth = max(0, depth - 1) if marks[number][1] else depth + 1
            number += 1
        if depth == 0:
            return label.end()
    return len(text)


def _plan_in_json(said: Execution) -> CallPlan:
    """Return the plan that a model wrote as one JSON value in place of the sections."""
    return CallPlan(
        thoughts=said.thoughts,
        intent=said.intent,
        plan=said.plan,
        calls=said.calls,
        unread=said.unread,
    )


def _by_plain_name(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields by name, those of a plan inside the reply among them."""
    fields = {_plain(name): value for name, value in found.items()}
    inner = fields.get("updatedplan")
    known = (
        {_plain(name): value for name, value in inner.items()} if isinstance(inner, dict) else {}
    )
    return {name: known[name] for name in ("intent", "plan", "todolist") if name in known} | fields


def _text(value: object) -> str | None:
    """Return a text, or a list of texts or of steps with a description as numbered lines."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    lines = [line.get("description", line) if isinstance(line, dict) else line for line in value]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


class _Sections:
    """The texts of the sections by name, trimmed, and the calls if they can be read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: dict[str, tuple[int, int]] = {}
        self.calls: tuple[PlannedCall, ...] | None = None
        self._read()
        spans = self._spans.items()
        self.texts = {name: text[start:end].strip() for name, (start, end) in spans}

    def _read(self) -> None:
        label = self._next_label(0)
        while label is not None:
            name, at = _NAMES[_plain(label["name"])], label.end()
            self._spans[name] = (at, len(self._text))
            following = self._next_label(at)
            if name == "calls":
                before = None if following is None else following.start()
                self.calls, at = find_calls(self._text, at, before)
                following = self._next_label(at)  # a label within the calls is none
            if following is not None:
                self._spans[name] = (self._spans[name][0], following.start())
            label = following

    def _next_label(self, at: int) -> re.Match[str] | None:
        """Return the next label of a section not seen yet, at a line's start or within a line."""
        found = (
            next(filter(self._is_new, pattern.finditer(self._text, at)), None)
            for pattern in (_LABEL, _WITHIN_LINE)
        )
        return min(filter(None, found), key=lambda label: label.start(), default=None)

    def _is_new(self, label: re.Match[str]) -> bool:
        return _NAMES[_plain(label["name"])] not in self._spans


def _plain(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())
