"""Read a plan of phases and goals, or goals in the place of a failed one, however it is shaped."""

import json
from collections.abc import Mapping
from typing import Any

from agents.errors import ParseError
from agents.planning import Goal, GoalPlan, Phase
from agents.reading.json_repair import read_object

_MAX_PHASES, _MAX_GOALS = 10, 30
_NAMES = frozenset({"goals", "steps", "tasks"})
_LONGEST = 1_000


def read_plan(text: str) -> GoalPlan:
    """Return the plan that a reply holds; raises ParseError for one without a goal."""
    phases: list[Phase] = []
    given = _phases(_value(text))
    for number, phase in enumerate(given[:_MAX_PHASES], start=1):
        names = _NAMES & phase.keys() if isinstance(phase, Mapping) else set[str]()
        goals = _goals(phase[min(names)]) if names else ()
        if goals:
            name = _text(phase.get("name")) or f"Phase {number}"
            phases.append(Phase(name=name, goals=goals))
    if not phases:
        raise ParseError("The plan has no goals.")
    return GoalPlan(phases=tuple(phases))


def read_goals(text: str) -> tuple[Goal, ...]:
    """Return the goals that shall replace a failed one; none where the model sees no other way.

    Raises ParseError for a reply that says neither.
    """
    found = _value(text)
    given = found.get("goals") if isinstance(found, dict) else found
    goals = _goals(given)
    if not isinstance(given, list) or (given and not goals):
        raise ParseError("The reply names no goals.")
    return goals


def _value(text: str) -> dict[str, Any] | list[Any]:
    """Return the object that a reply holds, or the list that comes before any."""
    brace, bracket = text.find("{"), text.find("[")
    if 0 <= bracket < brace or brace < 0 <= bracket:
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(text, bracket)
            return list(value)
        except (ValueError, RecursionError):
            pass  # a bracket in the words around the object
    if brace < 0:
        raise ParseError("There is no JSON object in the reply.")
    return read_object(text, brace).value


def _phases(found: dict[str, Any] | list[Any]) -> list[Any]:
    """Return what is given as phases, or as the goals of a single one, under its usual names."""
    if isinstance(found, dict) and isinstance(found.get("plan"), dict | list):
        found = found["plan"]
    if isinstance(found, dict) and isinstance(found.get("phases"), list):
        found = found["phases"]
    if isinstance(found, list):
        are_phases = any(isinstance(one, Mapping) and _NAMES & one.keys() for one in found)
        return found if are_phases else [{"goals": found}]
    return [found]


def _goals(given: object) -> tuple[Goal, ...]:
    if not isinstance(given, list):
        return ()
    goals = (_goal(each) for each in given[:_MAX_GOALS])
    return tuple(goal for goal in goals if goal is not None)


def _goal(given: object) -> Goal | None:
    if isinstance(given, Mapping):
        names = ("description", "goal", "task", "step", "name")
        description = next((_text(given[name]) for name in names if given.get(name)), "")
        criteria = _text(given.get("success_criteria"))
    else:
        description, criteria = _text(given), ""
    return Goal(description=description, success_criteria=criteria) if description else None


def _text(given: object) -> str:
    if isinstance(given, list):
        given = "; ".join(str(each) for each in given)
    return given.strip()[:_LONGEST] if isinstance(given, str) else ""
