"""What is held against a run of a model that may say anything: how it ended, never how clever."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

MOST_CALLS = 8
HONEST = {
    "succeeded": {"answered", "asked"},
    "exhausted": {"turns", "repeats", "failures", "time", "budget"},
    "failed": {"gave_up", "failures", "repeats"},
    "waiting": {""},
}
"""The reasons that a run may end for, by its status; one that waits has asked the person."""
FORM = re.compile(
    r"^\s*(?:thought|action|action input|observation|final answer|tool calls)\s*:"
    r"|</?(?:think|tool_call|function_call|im_start|im_end)\b|<\|[a-z_]+\|>",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks of a policy's form, or of a model's own, that no answer should show."""


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the expressions of which a right answer has one."""

    kind: str
    text: str
    right: tuple[str, ...]

    def is_answered_by(self, answer: str) -> bool:
        """Tell whether the answer has what it should."""
        return any(re.search(one, answer, re.IGNORECASE) for one in self.right)


@dataclass(frozen=True)
class Ended:
    """How one run ended: as it is stored."""

    policy: str
    question: Question
    status: str
    reason: str
    message: str
    answer: str
    is_partial: bool
    calls: int
    tokens: int
    is_structured: bool
    """Whether one of its calls asked the server for JSON."""

    @property
    def is_right(self) -> bool:
        """Tell whether the question has a right answer and this is one."""
        return self.question.is_answered_by(self.answer)

    def faults(self) -> list[str]:
        """Say what is wrong with how it ended; nothing where it ended honestly."""
        found = []
        if self.reason not in HONEST.get(self.status, set()):
            found.append(f"ended as {self.status}, {self.reason or 'no reason'}: {self.message}")
        if self.calls > MOST_CALLS:
            found.append(f"made {self.calls} calls")
        if self.status == "succeeded" and not self.answer.strip():
            found.append("succeeded without an answer")
        if FORM.search(self.answer) and not FORM.search(self.question.text):
            found.append(f"shows a form in its answer: {' '.join(self.answer.split())[:80]!r}")
        return found


def questions(path: Path, today: date) -> list[Question]:
    """Return the questions of a file, with the answers that are right today."""
    written = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
    return [
        Question(one["kind"], one["text"], tuple(_dated(r, today) for r in one.get("right", ())))
        for one in written
    ]


def _dated(right: str, today: date) -> str:
    forms = (f"{today:%Y-%m-%d}", f"{today:%B} {today.day}\\b", f"\\b{today.day} {today:%B}")
    return right.replace("{today}", "|".join(forms)).replace("{year}", str(today.year))
