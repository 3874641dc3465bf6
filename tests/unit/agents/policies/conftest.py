"""What the tests of policies share: scripted runs with small, real tools."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agents.act.approval import Ask, nobody
from agents.contracts import Exchange, ModelCall, Outcome
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import Event, ModelCalled
from agents.loop import run
from agents.model.budget import Purse
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.prompting.instructions import Instructions
from agents.providers.base import Provider
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit

Script = Sequence[str | dict[str, Any]]


@tool()
def search(query: str) -> str:
    """Search the web for a text."""
    return f"ran {query}"


@tool()
def add(left: int, right: int = 1) -> str:
    """Add two whole numbers."""
    return str(left + right)


@tool()
def broken(text: str) -> str:
    """Fail at whatever is asked."""
    raise ToolFailed(f"cannot {text}")


@tool()
def crashing(text: str) -> Iterator[str]:
    """Print a little and then crash."""
    yield "half "
    raise RuntimeError("boom")


@tool(idempotent=False)
def send(text: str) -> str:
    """Send a message once."""
    return f"sent {text}"


SETTINGS: dict[str, dict[str, Any]] = {
    "planned": {"planning": "always"},
    "self_repair": {"backoff_seconds": 0},
}
"""Settings with which nothing is waited for and nothing of a policy left out, by policy."""

NONE = Instructions()

TOOLS = (search, add, broken, crashing, send)


@dataclass
class Played:
    """A run that was played to its end: its state and all its events."""

    state: State
    events: list[Event] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        assert self.state.outcome is not None
        return self.state.outcome

    @property
    def calls(self) -> list[ModelCall]:
        return [event.call for event in self.events if isinstance(event, ModelCalled)]


class Stage:
    """Play scripted runs of one policy."""

    def __init__(self, policy: str) -> None:
        self.policy = policy

    def play(
        self,
        script: Script = (),
        *,
        goal: str = "Q?",
        history: Sequence[Exchange] = (),
        tools: Sequence[Tool] | Toolkit = TOOLS,
        max_turns: int = 5,
        provider: Provider | None = None,
        state: State | None = None,
        control: Control | None = None,
        ask: Ask = nobody,
        budget: Purse | None = None,
        instructions: Instructions = NONE,
        **settings: Any,
    ) -> Played:
        played = Played(state or State(goal, history))
        for event in self.events(
            script,
            played.state,
            tools=tools,
            max_turns=max_turns,
            provider=provider,
            control=control,
            ask=ask,
            budget=budget,
            instructions=instructions,
            **settings,
        ):
            played.events.append(event)
        return played

    def events(
        self,
        script: Script,
        state: State,
        *,
        tools: Sequence[Tool] | Toolkit = TOOLS,
        max_turns: int = 5,
        provider: Provider | None = None,
        control: Control | None = None,
        position: int = 0,
        ask: Ask = nobody,
        approve: tuple[str, ...] = (),
        budget: Purse | None = None,
        instructions: Instructions = NONE,
        **settings: Any,
    ) -> Iterator[Event]:
        control = control or Control()
        said = [{"say": entry} if isinstance(entry, str) else entry for entry in script]
        model = Model(provider or ScriptedProvider(said, position), control)
        model = model if budget is None else replace(model, budget=budget)
        toolkit = tools if isinstance(tools, Toolkit) else Toolkit(tools)
        parts = Parts(
            *(model, toolkit, Limits(max_turns=max_turns)),
            ask=ask,
            person=instructions.person,
            conversation=instructions.conversation,
        )
        spec = PolicySpec(
            policy=self.policy,
            settings=SETTINGS.get(self.policy, {}) | settings,
            approve=approve,
            instructions=instructions.policy,
        )
        return run(build(spec, parts), state, control)


@pytest.fixture
def stage() -> Callable[[str], Stage]:
    """Give the stage of a policy by its name."""
    return Stage
