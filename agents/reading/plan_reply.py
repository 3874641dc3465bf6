"""Show a planning reply while it streams, and hold the plan in the end.

What is thought and the words of the plan are shown as they come; the JSON of the tool calls is
not, and stands at the end as a list that people can read.
"""

import json
import re
from collections.abc import Iterator

from agents.events import ThoughtDelta
from agents.reading.calls import PlannedCall
from agents.reading.changes import plan_changes, steps_of
from agents.reading.plan import CallPlan, parse_plan
from agents.reading.thinking import ThinkingReader
from agents.reading.trimmed import Trimmed
from agents.text import storable

_CALLS = re.compile(
    r"[ \t>#*_`0-9.)]{0,24}tool[ \t_-]{0,3}calls?[*_`]{0,3}[ \t]{0,9}[:\uff1a]", re.I
)
_CALLS_SO_FAR = re.compile(
    r"[ \t>#*_`0-9.)]{0,24}(?:t(?:o(?:o(?:l(?:[ \t_-]{0,3}(?:c(?:a(?:l(?:l(?:s)?)?)?)?)?)?)?)?)?)?"
    r"[*_`]{0,3}[ \t]{0,9}\Z",
    re.IGNORECASE,
)
_JSON = ("{", "[", "`")
_SHOWN_ARGUMENTS = 200
_SHOWN_CALLS = 50


class PlanReader:
    """Take the pieces of a planning reply; `text` is what has been shown of it.

    If it replaces the plan `before`, what changed is shown as well.
    """

    done = False

    def __init__(self, before: CallPlan | None = None) -> None:
        self.plan = CallPlan()
        self._before = before
        self._raw: list[str] = []
        self._thinking = ThinkingReader()
        self._shown = Trimmed()
        self._line = ""
        self._at_start = True
        self._hides = False
        self._said = False
        self._thought = False

    @property
    def text(self) -> str:
        """Return what has been shown."""
        return self._shown.text

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Take what a reasoning model says to itself."""
        self._thought = True
        yield from self._show(storable(text))

    def feed(self, chunk: str) -> Iterator[ThoughtDelta]:
        """Take more of the reply; yield what it shows."""
        self._raw.append(chunk)
        for piece in self._thinking.feed(storable(chunk)):
            yield from self._take(piece.is_thought, piece.text)

    def finish(self, *, is_cut: bool = False) -> Iterator[ThoughtDelta]:
        """Take the reply as complete; yield what was held back, and the calls as a list."""
        for piece in self._thinking.finish():
            yield from self._take(piece.is_thought, piece.text)
        if not self._hides:
            yield from self._show(self._line)
        self.plan = parse_plan("".join(self._raw))
        if self._hides and not self._said:
            yield from self._paragraph(_words(self.plan))
        yield from self._paragraph(_list(self.plan.calls or ()))
        if self._before is not None:
            changes = plan_changes(steps_of(self._before.plan), steps_of(self.plan.plan))
            yield from self._paragraph(changes.in_words())

    def _take(self, is_thought: bool, text: str) -> Iterator[ThoughtDelta]:
        if self._hides:
            return
        if is_thought:
            self._thought = True
            yield from self._show(text)
            return
        if self._thought and text.strip():
            self._thought = False
            self._shown.separate("\n\n")
        yield from self._show("".join(map(self._take_line, text.splitlines(keepends=True))))

    def _take_line(self, part: str) -> str:
        """Return what to show of one line, once it cannot be the label of the tool calls."""
        if self._hides:
            return ""
        self._line += part
        if self._at_start and self._begins_calls():
            self._hides, self._line = True, ""
        elif not (self._at_start and _CALLS_SO_FAR.match(self._line)):
            self._said = self._said or bool(self._line.strip())
            self._at_start = self._line.endswith("\n")
            shown, self._line = self._line, ""
            return shown
        return ""

    def _begins_calls(self) -> bool:
        is_json = not self._said and self._line.lstrip().startswith(_JSON)
        return is_json or _CALLS.match(self._line) is not None

    def _paragraph(self, text: str) -> Iterator[ThoughtDelta]:
        if text:
            self._shown.separate("\n\n")
            yield from self._show(text)

    def _show(self, text: str) -> Iterator[ThoughtDelta]:
        if shown := self._shown.add(text):
            yield ThoughtDelta(text=shown)


def _words(plan: CallPlan) -> str:
    parts = {"Intent": plan.intent, "Plan": plan.plan}
    return "\n".join(f"{label}: {text}" for label, text in parts.items() if text)


def _list(calls: tuple[PlannedCall, ...]) -> str:
    lines = [
        f"{number}. {call.tool[:100]}: {_clipped(call.arguments)}"
        for number, call in enumerate(calls[:_SHOWN_CALLS], start=1)
    ]
    if len(calls) > _SHOWN_CALLS:
        lines.append(f"and {len(calls) - _SHOWN_CALLS} more")
    return "\n".join(["Tool calls:", *lines]) if lines else ""


def _clipped(arguments: object) -> str:
    text = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return text if len(text) <= _SHOWN_ARGUMENTS else text[:_SHOWN_ARGUMENTS] + "…"
