"""How tests drive the browser's tools, and see which browsers there are."""

from typing import Any

import psutil

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.tools.toolkit import Toolkit


def call(kit: Toolkit, tool: str, control: Control | None = None, **inputs: Any) -> Observation:
    events = kit.call(ToolCall(tool=f"browser_{tool}", inputs=inputs), control or Control())
    while True:
        try:
            next(events)
        except StopIteration as end:
            observation: Observation = end.value
            return observation


def browsers() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [child for child in children if _is_browser(child)]


def _is_browser(process: psutil.Process) -> bool:
    try:
        return "chrom" in process.name() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
