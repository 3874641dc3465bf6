"""What a planning, an executing and a synthesizing reply of ART says, and how a plan changes."""

import json
from collections.abc import Callable
from typing import Any

from agents.contracts import Outcome
from agents.control import Control
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.reading.calls import PlannedCall
from agents.reading.changes import plan_changes
from agents.reading.plan import parse_execution, parse_plan
from agents.reading.plan_reply import PlanReader
from agents.state import State
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

BETTER = "upstream gives this up; what is written there is read, and nothing else"


def check_planning(case: Case) -> str | None:
    """Read a plan whole and letter by letter: both say what is expected."""
    text, expected = str(case["input"]), case["expected"]
    plan = parse_plan(text)
    reader = PlanReader()
    for letter in text:
        list(reader.feed(letter))
    list(reader.finish())
    assert reader.plan == plan, f"letter by letter {reader.plan}, in one piece {plan}"
    found = {
        "thoughts": plan.thoughts or None,
        "intent": plan.intent,
        "plan": plan.plan,
        "toolCalls": _calls(plan.calls),
    }
    return _compared(found, expected, case)


def check_execution(case: Case) -> str | None:
    """Read a reply that should be JSON."""
    execution = parse_execution(str(case["input"]))
    found = {
        "thoughts": execution.thoughts or None,
        "content": execution.content,
        "toolCalls": _calls(execution.calls),
        "nextStepDecision": execution.decision,
        "updatedPlan": execution.updated_plan,
    }
    return _compared(found, case["expected"], case)


def check_synthesis(case: Case) -> str | None:
    """Let a model say this as its synthesis; it is the answer of the run."""
    answer = _synthesized(str(case["input"])).answer
    assert answer == case["expected"], f"{answer!r} is not {case['expected']!r}"
    return None


def check_changes(case: Case) -> str | None:
    """Compare two plans, each a list of `id:description`."""
    before, after = (_steps(case["input"].get(name)) for name in ("previous", "current"))
    changes = plan_changes(before, after)._asdict()
    found = {how: list(steps) for how, steps in changes.items()}
    assert found == case["expected"], f"{found} is not {case['expected']}"
    return None


def _compared(found: dict[str, Any], expected: dict[str, Any], case: Case) -> str | None:
    """Hold what was found against what is expected; in a reject case less or better is right."""
    if not expected:
        assert not any(found.values()), f"{found} was found where there is nothing"
    different = {
        name: value for name, value in expected.items() if not _same(found.get(name), value)
    }
    if not different:
        return None
    if case["class"] == "reject":
        assert all(_is_written(found.get(name), case["input"]) for name in different), (
            f"{found} is made up"
        )
        return BETTER
    raise AssertionError(f"{ {name: found.get(name) for name in different} } is not {different}")


def _same(found: object, expected: object) -> bool:
    """Compare two values; an expectation in words names the parts of a text."""
    words = str(expected).removeprefix("contains ")
    if isinstance(found, str) and words != expected:
        return all(word in found for word in words.replace(" and ", ", ").split(", "))
    return found == expected


def _is_written(found: object, text: str) -> bool:
    """Tell whether all that was found stands in the text."""
    match found:
        case dict():
            return all(_is_written(value, text) for value in found.values())
        case list():
            return all(_is_written(value, text) for value in found)
        case str():
            return found in text or json.dumps(found)[1:-1] in text
        case None:
            return True
        case _:
            return json.dumps(found) in text


def _calls(calls: tuple[PlannedCall, ...] | None) -> list[dict[str, Any]] | None:
    if calls is None:
        return None
    named = [{"callId": c.id, "toolName": c.tool, "arguments": c.arguments} for c in calls]
    return [{name: value for name, value in c.items() if value is not None} for c in named]


def _steps(steps: list[str] | None) -> dict[str, str] | None:
    if steps is None:
        return None
    parts = [step.partition(":") for step in steps]
    return {number: description for number, _, description in parts}


def _synthesized(text: str) -> Outcome:
    control = Control()
    provider = ScriptedProvider([{"say": "Intent: i\nTool Calls: []"}, {"say": text}])
    policy = build(
        PolicySpec(policy="plan_execute"), Parts(Model(provider, control), Toolkit(), Limits())
    )
    state = State("Q?")
    for _ in run(policy, state, control):
        pass
    assert state.outcome is not None
    return state.outcome


AREAS: dict[str, Callable[[Case], str | None]] = {
    "parsePlanningOutput": check_planning,
    "parseSynthesisOutput": check_synthesis,
    "v0.4 parseExecutionOutput": check_execution,
    "v0.4 plan change tracking (id:description)": check_changes,
}
