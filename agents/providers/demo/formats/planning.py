"""What the demo model does next: the next step of its plan, or its answer.

It keeps nothing between calls. Each time it reads the question anew, makes the same plan, and
walks along what was observed so far.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agents.contracts import Purpose
from agents.errors import ErrorKind
from agents.providers.demo.answers.arithmetic import read_arithmetic
from agents.providers.demo.answers.dates import read_dates
from agents.providers.demo.answers.introduction import GREETING, UNKNOWN
from agents.providers.demo.answers.memories import read_look_up
from agents.providers.demo.answers.numbers import answered_number, result_number
from agents.providers.demo.answers.quoting import quoted
from agents.providers.demo.answers.snippets import read_snippet
from agents.providers.demo.answers.units import read_units
from agents.providers.demo.follow_up import meant
from agents.providers.demo.formats.call_trail import CallTrail
from agents.providers.demo.formats.step_trail import StepTrail
from agents.providers.demo.formats.steps import Step, Task
from agents.providers.demo.formats.trail import NotMine, Trail
from agents.providers.demo.request import Request

_Reader = Callable[[str, str], Task | None]
_READERS_OF_ANY_TEXT: tuple[_Reader, ...] = (read_snippet, read_look_up)
_READERS = (*_READERS_OF_ANY_TEXT, read_dates, read_units, read_arithmetic)
_GREETS = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|help|what can you do|who are you"
    r"|what are you|thanks|thank you)(?: there| turnstone)?[\s!.?,]*",
    re.IGNORECASE,
)
_BETWEEN_PARTS = re.compile(r"(?:[?.;,]\s+(?:and\s+|then\s+)*|\s+and then\s+|\s+and\s+|\s+then\s+)")
_MAX_PARTS = 5
_MAX_IN_PARTS = 500


@dataclass(frozen=True)
class Answer:
    """The end of the plan: why, and what is said."""

    thought: str
    text: str


@dataclass(frozen=True)
class Journey:
    """The tasks of a question with those of their steps that need no result of another one.

    `is_whole` is false where a task, or a step of the last one, does.
    """

    tasks: tuple[tuple[Task, tuple[Step, ...]], ...]
    is_whole: bool

    @property
    def steps(self) -> list[Step]:
        """Return the steps of all tasks in order."""
        return [step for _, steps in self.tasks for step in steps]


def next_move(request: Request) -> Step | Answer:
    """Return the next step, or the answer."""
    parts, previous = _understood(request)
    if isinstance(parts, Answer):
        return parts
    try:
        return _walk(parts, previous, _trail(request))
    except NotMine:
        return Answer("I only know how to go on from my own steps.", _NOT_MINE)


def _trail(request: Request) -> Trail | StepTrail | CallTrail:
    if request.is_native:
        return CallTrail(request)
    return StepTrail(request) if request.purpose == Purpose.STEP else Trail(request)


def plan_ahead(request: Request) -> Journey | Answer:
    """Return all the steps that can be told before any is taken, or the answer."""
    parts, previous = _understood(request)
    if isinstance(parts, Answer):
        return parts
    tasks: list[tuple[Task, tuple[Step, ...]]] = []
    for part in parts:
        task = _read(part, previous)
        steps = () if task is None else _known_steps(task)
        if task is None or len(steps) < len(task.steps):
            more = [] if task is None else [(task, steps)]
            return Journey(tuple(tasks + more), is_whole=False)
        tasks.append((task, steps))
        previous = ""  # what the part before it will have said is not known yet
    return Journey(tuple(tasks), is_whole=True)


def failed(observation: str, answers: list[str]) -> Answer:
    """Say honestly what went wrong, after the parts that went well."""
    kind, _, text = observation.removeprefix("ERROR: ").partition(": ")
    if kind in (ErrorKind.TOOL_SELECTION_ERROR, ErrorKind.TOOL_NOT_FOUND):
        said = "I cannot do this: no tool for it is offered here."
    else:
        said = f"The tool could not do this, so I have no result:\n\n{quoted(text)}"
    return Answer("That did not work, and I do not make up results.", "\n\n".join([*answers, said]))


def _understood(request: Request) -> tuple[list[str] | Answer, str]:
    """Return the parts of the question, or the answer that needs no tool, and the last number."""
    goal = request.goal.strip()
    previous = answered_number(request.history[-1][1]) if request.history else ""
    if _GREETS.fullmatch(goal):
        return Answer("This needs no tool.", GREETING), previous
    # As it stands if it can be read so; else as the questions before it have it mean.
    parts = _parts(goal, previous) or _parts(_meant(goal, request), previous)
    return parts or Answer("I have no rule for this question.", UNKNOWN), previous


def _meant(goal: str, request: Request) -> str:
    return meant(goal, (question for question, _ in request.history))


def _known_steps(task: Task) -> tuple[Step, ...]:
    """Return the steps of a task up to the first that asks what was seen."""
    steps: list[Step] = []
    for make in task.steps:
        try:
            steps.append(make(()))
        except IndexError:
            break
    return tuple(steps)


def _parts(goal: str, previous: str) -> list[str]:
    """Return the parts of the question that can each be answered; none if they cannot all be."""
    if _read(goal, previous, _READERS_OF_ANY_TEXT) is not None:
        return [goal]
    parts = [part for part in _BETWEEN_PARTS.split(goal[:_MAX_IN_PARTS]) if part.strip()]
    if len(goal) <= _MAX_IN_PARTS and 2 <= len(parts) <= _MAX_PARTS:
        # Any number will do to find out whether a part that says "that" can be read.
        before = [previous, *("1" for _ in parts)]
        if all(_read(part, known) is not None for part, known in zip(parts, before, strict=False)):
            return parts
    return [goal] if _read(goal, previous) is not None else []


def _read(text: str, previous: str, readers: tuple[_Reader, ...] = _READERS) -> Task | None:
    return next((task for read in readers if (task := read(text, previous)) is not None), None)


def _walk(parts: list[str], previous: str, trail: Trail | StepTrail | CallTrail) -> Step | Answer:
    answers: list[str] = []
    for part in parts:
        task = _read(part, previous)
        if task is None:
            return Answer("The last result does not fit the next part.", UNKNOWN)
        seen: list[str] = []
        for make in task.steps:
            step = make(seen)
            observation = trail.observe(step)
            if observation is None:
                return step
            if observation.startswith("ERROR: "):
                return failed(observation, answers)
            seen.append(observation)
        answers.append(task.answer(seen))
        previous = result_number(seen[-1]) if seen else previous
    return Answer("I have what the question asks for.", "\n\n".join(answers))


_NOT_MINE = (
    "The steps so far are not mine. I am a rule-based demo model, and can only go on from steps "
    "that I took myself. Please ask again."
)
