"""Read a plan whose steps name their results: `#E1 = tool[inputs]`, and later ones use `#E1`.

Labels may be in any case and emphasis, in fences, one to a line or behind each other; inputs may
take several lines. Nothing is raised for any text, and its cost grows with its length alone.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from agents.contracts import Value

MAX_STEPS = 50

_STEP = re.compile(
    r"(?:#E|^[ \t>*_`-]{0,8}E)(?P<number>\d{1,3})[*_`]{0,3}[ \t]{0,4}[=:][ \t]{0,4}[*_`]{0,3}"
    r"(?P<tool>[A-Za-z_][\w-]{0,99})[*_`]{0,3}[ \t]{0,4}(?P<opening>[\[(])",
    re.MULTILINE,
)
_PLAN = re.compile(
    r"^[ \t>*_`#-]{0,8}(?:(?:step[ \t]?)?\d{1,3}[.):][ \t]{0,4})?[*_`]{0,3}plan[ \t]?\d{0,3}"
    r"[*_`]{0,3}[ \t]{0,4}[:\uff1a][*_`]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_VARIABLE = re.compile(r"#E(\d{1,3})(?!\d)")
_QUOTED_OR_VARIABLE = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|#E\d{1,3}(?!\d)', re.DOTALL)
_CLOSING = {"[": "]", "(": ")"}


class PlanStep(Value):
    """A step: the name of its result, why it is made, the tool, and its inputs as written."""

    id: str
    why: str = ""
    tool: str
    text: str


class Steps(Value):
    """The steps of a plan; `problem` says why they cannot be used, in words for the model."""

    steps: tuple[PlanStep, ...] = ()
    problem: str = ""


def parse_steps(text: str, known: Collection[str] = ()) -> Steps:
    """Return the steps of a plan that may use the results `known` and those of earlier steps."""
    steps: list[PlanStep] = []
    marks = sorted([*_STEP.finditer(text), *_PLAN.finditer(text)], key=lambda mark: mark.start())
    why = ""
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        chunk = text[mark.end() : end]
        if mark.re is _PLAN:
            why = chunk.strip(" \t\r\n*_`")
        elif len(steps) < MAX_STEPS:
            steps.append(_step(mark, chunk, why))
            why = ""
    if not steps and re.search(r"#E\d", text):
        return Steps(problem="No step has the form #E1 = tool[inputs].")
    return Steps(steps=tuple(steps), problem=_problem(steps, known))


def variables(text: str) -> list[str]:
    """Return the names of the results that a text uses."""
    return [f"#E{int(number)}" for number in _VARIABLE.findall(text)]


def substituted(value: Any, evidence: Mapping[str, str]) -> Any:
    """Return a JSON value with the evidence in place of its names, once and never within it."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: evidence.get(f"#E{int(found[1])}", found[0]), value)
    if isinstance(value, Mapping):
        return {key: substituted(item, evidence) for key, item in value.items()}
    if isinstance(value, list):
        return [substituted(item, evidence) for item in value]
    return value


def with_quoted_variables(text: str) -> str:
    """Return inputs in which a name that stands bare in JSON is a text, so that it can be read."""
    if not text.lstrip().startswith("{"):
        return text
    return _QUOTED_OR_VARIABLE.sub(
        lambda found: json.dumps(found[0]) if found[0].startswith("#") else found[0], text
    )


def _step(mark: re.Match[str], chunk: str, why: str) -> PlanStep:
    inner, closing, _ = chunk.rpartition(_CLOSING[mark["opening"]])
    text = inner if closing else chunk
    return PlanStep(
        id=f"#E{int(mark['number'])}", why=why, tool=mark["tool"], text=text.strip(" \t\r\n`")
    )


def _problem(steps: list[PlanStep], known: Collection[str]) -> str:
    there = set(known)
    for step in steps:
        missing = [name for name in variables(step.text) if name not in there]
        if missing:
            return f"{step.id} uses {missing[0]}, which no earlier step gives."
        there.add(step.id)
    return ""
