"""What is said in a turn and in a run, part by part, as search reads it."""

from collections.abc import Iterable, Iterator
from typing import Any

from chat.models import Run, Turn

Said = Iterable[tuple[str, str]]
"""Texts by the names of their parts, those that can be huge last."""


def parts_of(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield the turn's texts; the run's first turn carries the question too."""
    if turn.index == 0:
        yield "question", turn.run.question
    yield "thought", turn.thought
    yield "answer", turn.answer
    yield "plan", json_text(turn.plan)
    for action in turn.actions:
        yield "tool", action.tool
        yield "inputs", json_text(action.inputs)
    for action in turn.actions:
        yield "observation", " ".join(filter(None, (action.error, action.text_at_hand)))


def closing_parts(run: Run, last: Turn) -> Iterator[tuple[str, str]]:
    """Yield the texts of an ended run that its last turn does not hold."""
    if run.answer != last.answer:
        yield "answer", run.answer
    if run.message:
        yield "message", run.message


def parts_of_run(run: Run, title: str) -> Iterator[tuple[str, str]]:
    """Yield the texts that are the run's own, and the title of its conversation."""
    yield "title", title
    yield "message", run.message
    yield "question", run.question
    yield "answer", run.answer


def json_text(content: Any) -> str:
    """Write a JSON value's keys and values as plain lines; JSON itself would escape the text."""
    lines: list[str] = []
    waiting = [content]
    while waiting:
        match waiting.pop():
            case dict() as table:
                for key, value in reversed(table.items()):
                    waiting += [value, str(key)]
            case list() as items:
                waiting += reversed(items)
            case None:
                pass
            case value:
                lines.append(str(value))
    return "\n".join(lines)
