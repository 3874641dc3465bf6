"""A tool called as a policy does, for the areas about tools."""

from typing import Any

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit


def observation_of(made: Tool, inputs: dict[str, Any]) -> Observation:
    """Call one tool with these inputs."""
    return observation_in(Toolkit([made]), ToolCall(tool=made.name, inputs=inputs))


def observation_in(kit: Toolkit, call: ToolCall) -> Observation:
    """Make the call in this toolkit."""
    events = kit.call(call, Control())
    while True:
        try:
            next(events)
        except StopIteration as end:
            observation: Observation = end.value
            return observation
