"""Plan all steps before any of them is taken, and put their results into an answer.

A step that needs another one's result cannot be planned so; the demo says that, and which policy
can do it.
"""

import json
import re

from agents.providers.demo.formats.planning import Answer, Journey, failed, plan_ahead
from agents.providers.demo.formats.steps import Step
from agents.providers.demo.request import Request

_RESULT = re.compile(r'\n<(result id="[0-9a-f]+")>\n')
_BLOCKS = ("intent", "plan")


def plan(request: Request) -> str:
    """Return the plan with the calls of all steps that are known by now."""
    journey = plan_ahead(request)
    if isinstance(journey, Answer):
        return _written("Answer without a tool.", [f"1. {journey.thought}"], [])
    steps = [step for step in journey.steps if step.tool in request.tools]
    lines = [f"{number}. Use {step.tool}." for number, step in enumerate(steps, start=1)]
    if len(steps) < len(journey.steps):
        lines.append("A tool that I need is not in the list.")
    return _written("Answer the question with tools, by rules.", lines, steps)


def named_steps(request: Request) -> str:
    """Return the plan with a name for the result of each step that is known by now."""
    journey = plan_ahead(request)
    known = [] if isinstance(journey, Answer) else journey.steps
    steps = [step for step in known if step.tool in request.tools]
    if not steps:
        return "Plan: answer directly"
    return "\n".join(
        f"Plan: {step.thought}\n#E{number} = {step.tool}[{_inputs(step)}]"
        for number, step in enumerate(steps, start=1)
    )


def synthesis(request: Request) -> str:
    """Return the answer that the results add up to."""
    journey = plan_ahead(request)
    if isinstance(journey, Answer):
        return journey.text
    return _told(journey, _results(request.work))


def _told(journey: Journey, results: list[str]) -> str:
    answers: list[str] = []
    left = list(results)
    for task, steps in journey.tasks:
        if len(left) < len(steps):
            missing = steps[len(left)].tool
            return "\n\n".join([*answers, f"This needs the tool `{missing}`, {_ASK_AGAIN}"])
        seen, left = left[: len(steps)], left[len(steps) :]
        error = next((result for result in seen if result.startswith("ERROR: ")), None)
        if error is not None:
            return failed(error, answers).text
        if len(steps) == len(task.steps):
            answers.append(task.answer(seen))
        else:
            answers += [
                f"`{step.tool}` said: {text}" for step, text in zip(steps, seen, strict=True)
            ]
    return "\n\n".join(answers if journey.is_whole else [*answers, _STEPWISE])


def _written(intent: str, lines: list[str], steps: list[Step]) -> str:
    calls = [
        {"callId": str(number), "toolName": step.tool, "arguments": step.inputs}
        for number, step in enumerate(steps, start=1)
    ]
    words = "\n".join(lines)
    return f"Intent: {intent}\nPlan:\n{words}\nTool Calls: {json.dumps(calls, ensure_ascii=False)}"


def _inputs(step: Step) -> str:
    return json.dumps(step.inputs, ensure_ascii=False)


def _results(work: str) -> list[str]:
    """Return what the calls returned; their marks cannot be written by what they enclose."""
    for name in _BLOCKS:
        opening = re.search(rf'\n<({name} id="[0-9a-f]+")>\n', work)
        if opening is not None:
            work = work[opening.end() :].partition(f"\n</{opening[1]}>")[2]
    results: list[str] = []
    while (opening := _RESULT.search(work)) is not None:
        inner, _, work = work[opening.end() :].partition(f"\n</{opening[1]}>")
        results.append(inner)
    return results


_ASK_AGAIN = (
    "which is not offered here. Ask again under a policy that has it; I am a rule-based demo and "
    "know no other way."
)
_STEPWISE = (
    "The next step needs this result, but under this policy all calls are planned before the first "
    "result is known. Ask again under *Explicit ReAct*, which goes one step at a time."
)
