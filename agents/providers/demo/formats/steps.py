"""What the demo model plans: tasks of a few steps, each with a tool to use."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One action: why, what in plain words, and the tool call that does it."""

    thought: str
    instruction: str
    tool: str
    inputs: Inputs


@dataclass(frozen=True)
class Task:
    """A part of a question: its steps and its answer, made from the observations so far.

    Each is given the observations of this task's earlier steps.
    """

    steps: tuple[Callable[[Sequence[str]], Step], ...]
    answer: Callable[[Sequence[str]], str]


def one_step(step: Step, answer: Callable[[str], str]) -> Task:
    """Return a task that is done with one observation."""
    return Task(steps=(lambda _: step,), answer=lambda seen: answer(seen[-1]))


def action_text(step: Step) -> str:
    """Return the action of a step as one JSON object, as it stands in a prompt."""
    tool, inputs = (
        json.dumps(step.tool),
        json.dumps(step.inputs, ensure_ascii=False, sort_keys=True),
    )
    return f'{{"tool": {tool}, "inputs": {inputs}}}'


def input_texts(inputs: Inputs) -> tuple[str, ...]:
    """Return the ways in which inputs can stand as text, the one to write first."""
    as_json = json.dumps(inputs, ensure_ascii=False, sort_keys=True)
    values = list(inputs.values())
    if len(values) != 1 or not isinstance(values[0], str):
        return (as_json,)
    plain = values[0]
    if not plain or any(mark in plain for mark in "\n{}`"):
        return (as_json, plain)
    return (plain, as_json)
