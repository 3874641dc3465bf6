"""smolagents: a ToolCallingAgent that streams its outputs, its console silenced."""

import os
from functools import cache
from typing import Any

from rich.console import Console
from smolagents import (
    ChatMessageStreamDelta,
    FinalAnswerStep,
    LogLevel,
    OpenAIServerModel,
    ToolCallingAgent,
    ToolOutput,
    tool,
)
from smolagents.monitoring import AgentLogger

from tests.bench.engine_drivers.measured import Done, serve


@tool  # type: ignore[untyped-decorator, unused-ignore]
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@cache
def agent(url: str, turns: int) -> Any:
    """Return the one agent of an address."""
    console = Console(file=open(os.devnull, "w"))  # noqa: SIM115 - as long as the process
    return ToolCallingAgent(
        tools=[add],
        model=OpenAIServerModel(model_id="fake", api_base=url, api_key="x"),
        stream_outputs=True,
        logger=AgentLogger(level=LogLevel.OFF, console=console),
        max_steps=turns + 10,
    )


def one(url: str, turns: int) -> Done:
    """Do one run."""
    answer, deltas, tools = "", 0, 0
    for event in agent(f"{url}/native/v1", turns).run("Add numbers.", stream=True, reset=True):
        if isinstance(event, ChatMessageStreamDelta):
            deltas += bool(event.content)
        elif isinstance(event, ToolOutput):
            tools += 1
        elif isinstance(event, FinalAnswerStep):
            answer = str(event.output)
    return answer, deltas, tools


if __name__ == "__main__":
    serve(one)
