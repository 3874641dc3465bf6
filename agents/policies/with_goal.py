"""Let any policy begin by settling what is asked, where its version says `settle_goal`.

The first turn holds the goal; the policy itself sees the turns after it, with that goal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from agents.contracts import EndReason, ThoughtKind, Value
from agents.events import Event
from agents.policies.context import Build, Parts
from agents.policy import Decide, Decision, Policy, Step, Think
from agents.state import State
from agents.think.clarify import ClarifyThink, settled_goal

SETTING = "settle_goal"


class GoalSettings(Value):
    """How the goal is settled: `time_zone` is the asker's, such as Europe/Paris."""

    time_zone: str = "UTC"

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"there is no time zone {name!r}") from None
        return name


class Shared(Value):
    """The settings that every policy takes beside its own."""

    settle_goal: GoalSettings | bool = Field(
        default=False,
        description="Settle first what is meant by such words as “do it again”, and ask back "
        "where that cannot be known: yes, or the asker's time zone.",
    )


def with_goal(build: Build) -> Build:
    """Return a builder that takes the setting `settle_goal` beside the policy's own.

    It is true, or an object such as {"time_zone": "Europe/Paris"}.
    """

    def built(parts: Parts) -> Policy:
        own: dict[str, Any] = dict(parts.settings)
        shared = {SETTING: own.pop(SETTING, False)}
        wanted = replace(parts, settings=shared).settings_as(Shared).settle_goal
        policy = build(replace(parts, settings=own))
        if wanted is False:
            return policy
        settings = GoalSettings() if wanted is True else wanted
        return _settled(policy, ClarifyThink(parts.model, ZoneInfo(settings.time_zone)))

    return built


def _settled(policy: Policy, settle: ClarifyThink) -> Policy:
    return Policy(
        name=policy.name,
        think=_FirstThink(settle, policy.think),
        act=_Afterwards(policy.act),
        decide=_FirstDecide(policy.decide),
        summarize=_Afterwards(policy.summarize),
        reads_on=policy.reads_on,
    )


@dataclass(frozen=True)
class _FirstThink:
    settle: Think
    think: Think

    def __call__(self, state: State) -> Iterator[Event]:
        is_first = len(state.turns) == 1
        return self.settle(state) if is_first else _Afterwards(self.think)(state)


@dataclass(frozen=True)
class _FirstDecide:
    decide: Decide

    def __call__(self, state: State) -> Decision:
        first = state.turns[0].thought if state.turns else None
        if first is None:
            return Decision(step=Step.THINK)
        if first.kind is ThoughtKind.FINAL:
            return Decision(step=Step.HALT, reason=EndReason.ASKED)
        return self.decide(_view(state))


@dataclass(frozen=True)
class _Afterwards:
    """A part that sees the run from the second turn on; what it tells goes into its view, too."""

    part: Callable[[State], Iterator[Event]]

    def __call__(self, state: State) -> Iterator[Event]:
        view = _view(state)
        for event in self.part(view):
            view.apply(event)
            yield event


def _view(state: State) -> State:
    """Return the run as the policy sees it; a run that ends with a question back is seen whole."""
    first = state.turns[0]
    goal = settled_goal(first)
    if goal is None or (first.thought is not None and first.thought.kind is ThoughtKind.FINAL):
        return replace(state, turns=list(state.turns))
    return replace(state, goal=goal, turns=state.turns[1:])
