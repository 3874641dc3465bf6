"""A policy whose model lists several calls in one reply, composed of the engine's own parts."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.act.approval import ApprovedAct, Ask, nobody
from agents.act.named_tool import NamedToolAct
from agents.contracts import (
    Action,
    Message,
    Outcome,
    Purpose,
    Role,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.control import Control
from agents.decide import react
from agents.errors import ToolFailed
from agents.events import Event, ModelCalled, ThoughtCompleted, ThoughtDelta
from agents.loop import run
from agents.model.model import Model
from agents.policies.context import NoSettings, Parts
from agents.policies.declared import Declared
from agents.policies.spec import Limits
from agents.policy import Policy
from agents.prompting.scratchpad import scratchpad
from agents.providers.scripted import ScriptedProvider
from agents.reading.prose import Prose
from agents.state import State
from agents.summarize import FinalAnswer
from agents.tools.ask_user import ask_user, finish
from agents.tools.spec import Safety, tool
from agents.tools.toolkit import Toolkit

DONE = "All is done."


@dataclass(frozen=True)
class ListedThink:
    """Call what a reply lists as JSON, one after the other; any other reply is the answer."""

    model: Model
    toolkit: Toolkit

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the thought with its calls, or with its answer."""
        reader = Prose(lambda text: ThoughtDelta(text=text))
        asked = Message(role=Role.USER, content=state.goal + scratchpad(state, self.toolkit))
        yield from self.model.read(reader, [asked], purpose=Purpose.THINK)
        yield ThoughtCompleted(node=_node(reader.said.text))


def _node(said: str) -> Thought:
    if not said.startswith("["):
        return Thought(kind=ThoughtKind.FINAL, text="Enough.", answer=said)
    calls = tuple(map(ToolCall.model_validate, json.loads(said)))
    return Thought(kind=ThoughtKind.ACTION, text=said, calls=calls)


def _compose(parts: Parts, _: NoSettings) -> Policy:
    return Policy(
        think=ListedThink(parts.model, parts.toolkit),
        act=NamedToolAct(parts.toolkit, parts.model.control),
        decide=react,
        summarize=FinalAnswer(parts.model, parts.limits.max_turns),
    )


LISTED = Declared("listed", NoSettings, _compose)


def call(name: str, **inputs: Any) -> ToolCall:
    return ToolCall(tool=name, inputs=inputs)


def listed(*calls: ToolCall) -> str:
    """Write what the model says to have these calls made."""
    return json.dumps([each.model_dump() for each in calls])


def opened(*actions: Action) -> State:
    """Return a run whose worker died in its first turn, with what is stored of its actions."""
    calls = tuple(action.call for action in actions if action.call is not None)
    thought = Thought(kind=ThoughtKind.ACTION, text=listed(*calls), calls=calls)
    return State("Q?", turns=[Turn(index=0, thought=thought, actions=actions)], is_open=True)


@dataclass
class World:
    """What the tools of a run have really done, in its order."""

    done: list[str] = field(default_factory=list)

    def toolkit(self) -> Toolkit:
        """Return tools that may be run again or not, ask or not, fail, and end the run."""

        @tool()
        def look(at: str) -> str:
            """Look at something, as often as one likes."""
            self.done.append(f"look {at}")
            return f"saw {at}"

        @tool(idempotent=False)
        def send(to: str) -> str:
            """Send a letter."""
            self.done.append(f"send {to}")
            return f"sent {to}"

        @tool(safety=Safety.DANGEROUS, idempotent=False)
        def remove(path: str) -> str:
            """Remove a file."""
            self.done.append(f"remove {path}")
            return f"removed {path}"

        @tool()
        def broken(text: str) -> str:
            """Fail."""
            raise ToolFailed(f"cannot {text}")

        return Toolkit([look, send, remove, broken, ask_user, finish])


@dataclass
class Played:
    """A run of the policy: what it knows, what it told, and what its tools did."""

    state: State
    world: World
    events: list[Event] = field(default_factory=list)

    @property
    def turn(self) -> Turn:
        """Return the first turn."""
        return self.state.turns[0]

    @property
    def seen(self) -> list[str]:
        """Return what the first turn observed."""
        return [observation.text for observation in self.turn.observations]

    @property
    def outcome(self) -> Outcome:
        """Return how it ended."""
        assert self.state.outcome is not None
        return self.state.outcome

    @property
    def requests(self) -> list[str]:
        """Return what was posted to the model."""
        return [event.call.request for event in self.events if isinstance(event, ModelCalled)]


def begin(
    script: Sequence[str],
    played: Played,
    *,
    control: Control | None = None,
    ask: Ask = nobody,
) -> Iterator[Event]:
    """Drive the policy on these replies, telling and keeping its events."""
    control, kit = control or Control(), played.world.toolkit()
    model = Model(ScriptedProvider([{"say": reply} for reply in script]), control)
    policy = LISTED(Parts(model, kit, Limits()))
    policy = replace(policy, act=ApprovedAct(policy.act, kit, ask))
    for event in run(policy, played.state, control):
        played.events.append(event)
        yield event


def play(*script: str, state: State | None = None, ask: Ask = nobody) -> Played:
    """Play a run of the policy to its end."""
    played = Played(state or State("Q?"), World())
    for _ in begin(script, played, ask=ask):
        pass
    return played
