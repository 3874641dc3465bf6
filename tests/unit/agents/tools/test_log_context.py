"""What a run's thread knows of itself, its tools' threads know too."""

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any

from agents.tools.spec import tool

RUN: ContextVar[str] = ContextVar("run", default="no run")


@tool()
def whose() -> str:
    """Say which run this thread works for."""
    return RUN.get()


def test_a_tool_runs_in_the_context_of_its_run(observe: Callable[..., Any]) -> None:
    def in_a_run() -> str:
        RUN.set("run 12")
        return str(observe(whose).observation.text)

    assert copy_context().run(in_a_run) == "run 12"
    assert observe(whose).observation.text == "no run"
