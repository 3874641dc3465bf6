"""What came of a reply, and whether that is what a case expects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The tools that ran with their inputs, the answer that a person was given, and the thoughts.

    `shown` is the answer as it was streamed. Without calls and an answer the end was an honest one:
    the model was asked again, or the run ended saying why.
    """

    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    answer: str | None = None
    shown: str = ""
    thought: str = ""


def wrong(found: Outcome, case: Mapping[str, Any]) -> str:
    """Return how the outcome differs from all that the case takes, empty where it does not."""
    taken = [case["expect"], *case.get("also_fine", ())]
    differences = [_difference(found, one) for one in taken]
    return "" if "" in differences else differences[0]


def _difference(found: Outcome, expected: Mapping[str, Any]) -> str:
    calls = [(call["name"], _plain(call["arguments"])) for call in expected["calls"]]
    ran = [(name, _plain(inputs)) for name, inputs in found.calls]
    if ran != calls:
        return f"ran {ran!r}, expected {calls!r}; answer {found.answer!r}"
    answer, wanted = (found.answer or "").strip(), (expected["answer"] or "").strip()
    if answer != wanted:
        return f"answered {answer!r}, expected {wanted!r}; thought {found.thought[:200]!r}"
    if found.answer and found.shown.strip() != answer:
        return f"showed {found.shown!r}, kept {answer!r}"
    thought = " ".join(found.thought.split())
    for part in (expected["thought"] or "").split("\n\n"):
        if " ".join(part.split()) not in thought:
            return f"thought {found.thought!r}, expected {part!r}"
    return ""


def _plain(value: Any) -> Any:
    """Return a value in which space around texts, and 1 against 1.0, make no difference."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or value is None:
        return repr(value)
    return float(value) if isinstance(value, int | float) else value
