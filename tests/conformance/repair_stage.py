"""Play runs of the policy `self_repair`, for the adapters that check them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.contracts import ModelCall, Outcome
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import Event, ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

ANSWER = "so\n<__final_answer__>done</__final_answer__>"


class Patient(Control):
    """A control that keeps what it was asked to wait for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> None:
        """Keep the pause."""
        self.pauses.append(seconds)
        self.check()


@dataclass
class Played:
    """A run that was played to its end."""

    state: State
    control: Patient
    events: list[Event] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        assert self.state.outcome is not None, "the run has no end"
        return self.state.outcome

    @property
    def calls(self) -> list[ModelCall]:
        return [event.call for event in self.events if isinstance(event, ModelCalled)]

    @property
    def repairs(self) -> int:
        """Return the repairs before the model thinks again."""
        purposes = [call.purpose for call in self.calls][1:]
        return len(purposes) if "think" not in purposes else purposes.index("think")

    @property
    def observations(self) -> list[str]:
        return [seen.text for turn in self.state.turns for seen in turn.observations]


def play(
    script: Sequence[str],
    tools: Sequence[Tool] = (),
    *,
    max_turns: int = 20,
    watch: Callable[[Event, Control], None] = lambda event, control: None,
    **settings: Any,
) -> Played:
    """Play a run of scripted replies; a call beyond them is answered with nothing."""
    said = [{"say": reply} for reply in [*script, *[""] * 4]]
    control = Patient()
    played = Played(State("Q?"), control)
    parts = Parts(
        Model(ScriptedProvider(said), control), Toolkit(tools), Limits(max_turns=max_turns)
    )
    policy = build(PolicySpec(policy="self_repair", settings=settings), parts)
    for event in run(policy, played.state, control):
        played.events.append(event)
        watch(event, control)
    return played


def act(name: str, inputs: dict[str, Any] | None = None, *, is_final: bool = False) -> str:
    action = {"tool": name, "inputs": inputs or {}, "final_answer": is_final}
    return f"so\nAction: {json.dumps(action)}"


def failing(times: int) -> Tool:
    """Return a tool that says boom so many times, and then works."""
    tries: list[int] = []

    @tool()
    def fail() -> str:
        """Fail."""
        tries.append(1)
        if len(tries) <= times:
            raise ToolFailed("boom")
        return "worked"

    return fail
