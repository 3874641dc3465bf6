"""Everywhere that a run can be when its user says stop."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.providers.choice import ModelChoice
from chat.models import Run, RunStatus, TurnStatus
from tests.worker_stage.model_server import THOUGHT
from tests.worker_stage.worker import THREADS, Stage

IDEA = THOUGHT.removeprefix("Thought: ").strip()
LONG = 90


@dataclass(frozen=True)
class Phase:
    """A place that a run can be in: the policy that brings it there, and how it is seen.

    `others` is how many more runs of the same policy begin first. `keeps` is text of the turn that
    is cut off; `tool` is what was running in it.
    """

    name: str
    spec: Callable[[Stage], dict[str, Any]]
    is_reached: Callable[[Stage, Run], bool]
    others: int = 0
    keeps: str = ""
    tool: str = ""


def _scripted(*script: dict[str, Any], tools: tuple[str, ...] = ()) -> dict[str, Any]:
    model = ModelChoice(provider="scripted", script=script)
    return {"policy": "explicit", "model": model, "tools": tools}


def _asks(model: str) -> Callable[[Stage], dict[str, Any]]:
    def spec(stage: Stage) -> dict[str, Any]:
        url = f"http://{stage.models.place}/v1"
        return {
            "policy": "explicit",
            "model": ModelChoice(provider="openai", model=model, base_url=url),
        }

    return spec


def _acts(tool: str, inputs: str, tools: tuple[str, ...]) -> Callable[[Stage], dict[str, Any]]:
    def spec(stage: Stage) -> dict[str, Any]:
        filled = inputs.replace("PAGE", f"http://{stage.models.place}/page")
        said = f"{THOUGHT}this\nAction: {tool}\nAction Input: {filled}"
        return _scripted({"say": said}, {"say": "Final Answer: done"}, tools=tools)

    return spec


def _is_asked(model: str) -> Callable[[Stage, Run], bool]:
    return lambda stage, _: stage.models.under_way[model] > 0


def _is_running(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists()


def _acts_with(tool: str) -> Callable[[Stage, Run], bool]:
    return lambda _, run: run.turns.filter(
        stored_actions__tool=tool, status=TurnStatus.OPEN
    ).exists()


def _waits_in_line(stage: Stage, run: Run) -> bool:
    return stage.models.under_way["mute"] > 0 and _is_running(run) and bool(run_model(run))


def run_model(run: Run) -> str:
    """Return the model that the run's worker has found for it."""
    return Run.objects.values_list("model", flat=True).get(pk=run.pk)


def _repairs(_: Stage) -> dict[str, Any]:
    """Have a tool fail, and a pause of a minute before it is tried again."""
    call = json.dumps({"tool": "calculator", "inputs": {"expression": "1 / 0"}})
    said = {"say": f"{IDEA}\nAction: {call}"}
    fields = _scripted(said, said, said, tools=("calculator",))
    return fields | {"policy": "self_repair", "settings": {"backoff_seconds": 60}}


def _asks_first(_: Stage) -> dict[str, Any]:
    said = f'{THOUGHT}this\nAction: calculator\nAction Input: {{"expression": "6 * 7"}}'
    return _scripted({"say": said}, tools=("calculator",)) | {"approve": ("calculator",)}


PHASES = (
    Phase(
        "waiting for a worker",
        lambda _: _scripted({"hang": True}),
        lambda _, run: Run.objects.filter(status=RunStatus.RUNNING).count() >= THREADS,
        others=THREADS,
    ),
    Phase(
        "waiting for an MCP server to start",
        lambda _: _scripted({"say": "Final Answer: 4"}, tools=("mute__wait",)),
        lambda stage, run: _is_running(run) and stage.is_mute(),
    ),
    Phase("waiting for a slot", _asks("mute"), _waits_in_line, others=1),
    Phase("a silent model", _asks("mute"), _is_asked("mute")),
    Phase("a model that fell silent", _asks("breaks off"), _is_asked("breaks off"), keeps=IDEA),
    Phase("streaming", _asks("endless"), _is_asked("endless"), keeps=IDEA),
    Phase(
        "in retry backoff",
        _asks("busy"),
        lambda stage, run: _is_running(run) and stage.models.asked["busy"] > 0,
    ),
    Phase(
        "before a repair",
        _repairs,
        lambda _, run: run.turns.filter(stored_actions__error="ToolFailed").exists(),
    ),
    Phase(
        "waiting for approval",
        _asks_first,
        lambda _, run: Run.objects.filter(pk=run.pk, status=RunStatus.WAITING).exists(),
        keeps=IDEA,
        tool="calculator",
    ),
    Phase(
        "in a tool's thread",
        _acts("http_get", '{"url": "PAGE"}', ("http_get",)),
        _is_asked("page"),
        keeps=IDEA,
        tool="http_get",
    ),
    Phase(
        "in the Python sandbox",
        _acts("python_repl", f'{{"code": "import time; time.sleep({LONG})"}}', ("python_repl",)),
        _acts_with("python_repl"),
        keeps=IDEA,
        tool="python_repl",
    ),
    Phase(
        "in the browser",
        _acts("browser_goto", '{"url": "PAGE"}', ("browser",)),
        _is_asked("page"),
        keeps=IDEA,
        tool="browser_goto",
    ),
    Phase(
        "in a tool of an MCP server",
        _acts("slow__wait", f'{{"seconds": {LONG}}}', ("slow__wait",)),
        lambda stage, run: _acts_with("slow__wait")(stage, run) and stage.tool_calls() > 0,
        keeps=IDEA,
        tool="slow__wait",
    ),
)
