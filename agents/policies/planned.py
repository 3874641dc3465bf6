"""Planned: a plan of phases and goals where the task needs one, and structured steps towards them.

The reply is one object of a thought and an action; a goal that fails has the plan adapted, and one
that stays failed fails the run.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import Field

from agents.act.corrected import CorrectedAct
from agents.act.goals import GoalAct
from agents.act.named_tool import NamedToolAct
from agents.contracts import EndReason, Observation, Value
from agents.decide import AdaptsPlan, FailureLimit, NoUnreadable, RepeatLimit, SameToolLimit, react
from agents.errors import ErrorKind
from agents.planning import needs_plan
from agents.policies.context import STRUCTURED, Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.prompting.compaction import READ_ON
from agents.prompting.prompts import render
from agents.summarize import ExplainedSummary, FinalAnswer
from agents.think.goals import GoalThink
from agents.think.reflection import ReflectiveThink
from agents.think.shortcut import ShortcutThink
from agents.think.structured import REPAIRS, StructuredThink
from agents.tools.ask_user import finish
from agents.tools.catalogue import may_repeat
from agents.tools.finishing import complete, fail
from agents.tools.spec import Safety, Tool
from agents.tools.toolkit import Toolkit

Mode = Literal["auto", "navigate", "execute", "scrape", "research"]
Strategy = Literal["react", "react_plus", "chain_of_thought", "tree_of_thought"]
Planning = Literal["auto", "always", "never"]

STEP_BY_STEP: frozenset[Mode] = frozenset({"navigate", "execute"})
"""The modes in which the next step is found by looking, so that `auto` plans nothing ahead."""

READING: frozenset[Mode] = frozenset({"research"})
"""The modes in which the text of a page says enough, unless the model asks for a picture."""

OFFERED: dict[Mode, Callable[[Tool], bool]] = {
    "navigate": lambda one: one.reaches_out or one.brings_in or one.ends is EndReason.ASKED,
    "scrape": lambda one: one.safety in (Safety.SAFE, Safety.MODERATE),
    "research": lambda one: one.safety in (Safety.SAFE, Safety.MODERATE),
}
"""What a mode leaves of a version's tools: to find a place those that look out, to gather and to
find out those that change nothing of weight; all in the other modes."""

KEPT: dict[Mode, int] = {"auto": 2, "navigate": 1, "execute": 2, "scrape": 6, "research": 4}
"""How many of the newest steps stay whole in a request, by mode."""

ELSEWHERE = frozenset({"extract_text", "screenshot", "wait", "navigate", "scroll"})
"""What browsers of other systems call their tools that one may well use many times in a row."""

UNREADABLE = Observation(
    text=f"Response validation failed after {REPAIRS} repair attempts.", error=ErrorKind.PARSE_ERROR
)

_WANTED: dict[Planning, Callable[[str], bool]] = {
    "auto": needs_plan,
    "always": lambda task: True,
    "never": lambda task: False,
}
_THOUGHT = '"thought": "..."'
_TREE = (
    '"tree_of_thoughts": {"branches": [{"branch_id": 1, "strategy": "...", "reasoning": "...", '
    '"overall_score": 0.7, "tools_needed": ["..."]}], "selected_branch": 1, '
    '"selection_rationale": "..."}'
)


class Settings(Value):
    """What a version of this policy fixes.

    `mode` says what kind of work it is made for, and chooses of the version's tools those that fit
    it; `strategy` how it reasons, `planning` when it plans first: `auto` where the task needs it,
    and never in a mode that goes step by step. `vision` says that the model can see: it is then
    given the last picture of a page, in a mode that reads only where it asked for one.
    `input_tokens` is the size of a request at most. `exempt_tools` may be
    used more than `max_same_tool` times in a row; None are those that say so of themselves.
    `structured` asks the server to keep replies to their form, each tool's own inputs among it.
    """

    mode: Mode = Field(default="auto", description="The kind of work that it is made for.")
    strategy: Strategy = Field(default="react", description="How it reasons before each step.")
    planning: Planning = Field(default="auto", description="When it writes a plan first.")
    vision: bool = Field(
        default=False, description="The model can see: it is given the last screenshot."
    )
    input_tokens: int = Field(
        default=25_000, ge=2_000, description="Tokens of one request at most."
    )
    max_failures: int = Field(
        default=3, ge=1, description="Failed turns in a row that end the run."
    )
    max_same_tool: int = Field(default=5, ge=2, description="Calls of one tool in a row at most.")
    exempt_tools: tuple[str, ...] | None = Field(
        default=None,
        description="Tools that may be called more often in a row; empty for those that say so.",
    )
    max_adaptations: int = Field(
        default=2, ge=0, le=20, description="How often the plan may be adapted to a failed goal."
    )
    structured: bool = Field(default=True, description=STRUCTURED)


@policy("planned", Settings)
def planned(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model = replace(parts.model, structured=settings.structured)
    turns = parts.limits.max_turns
    without = set(parts.toolkit.names) - {one.name for one in _tools(parts.toolkit, settings.mode)}
    toolkit = Toolkit([complete, fail], base=parts.toolkit, without=without)
    wanted = _WANTED[settings.planning]
    if settings.planning == "auto" and settings.mode in STEP_BY_STEP:
        wanted = _WANTED["never"]
    think = StructuredThink(
        model,
        toolkit,
        partial(_rules, settings, toolkit),
        most=settings.input_tokens,
        kept=KEPT[settings.mode],
        sees=settings.vision,
        asks_to_see=settings.mode in READING,
        is_tree=settings.strategy == "tree_of_thought",
    )
    stepwise = ReflectiveThink(think, model) if settings.strategy == "react_plus" else think
    settling = GoalAct(NamedToolAct(toolkit, model.control), settings.max_adaptations)
    within = SameToolLimit(
        RepeatLimit(NoUnreadable(react)), exempt(settings, toolkit), settings.max_same_tool
    )
    limits = FailureLimit(within, settings.max_failures)
    adaptations = settings.max_adaptations
    with_goals = GoalThink(stepwise, model, toolkit, wanted, limits, adaptations)
    plans_first = settings.planning == "always"
    return Policy(
        think=with_goals if plans_first else ShortcutThink(with_goals, tuple(toolkit.names)),
        act=CorrectedAct(settling, lambda _: UNREADABLE),
        decide=AdaptsPlan(limits, adaptations),
        summarize=ExplainedSummary(FinalAnswer(model, turns), settings.input_tokens),
    )


def exempt(settings: Settings, toolkit: Toolkit) -> frozenset[str]:
    """Return the tools that may be used many times in a row.

    Those of the catalogue are among them on every machine, so that a replay elsewhere agrees.
    """
    if settings.exempt_tools is not None:
        return frozenset(settings.exempt_tools)
    here = {tool.name for tool in toolkit.tools if tool.may_repeat}
    return may_repeat() | here | ELSEWHERE | {READ_ON}


def _tools(toolkit: Toolkit, mode: Mode) -> list[Tool]:
    """Return the tools that a mode offers; all where it would leave none to work with."""
    tools = [one for one in toolkit.tools if one.name != finish.name]
    offered = [one for one in tools if mode not in OFFERED or OFFERED[mode](one)]
    return offered if any(not one.terminal for one in offered) else tools


def _rules(settings: Settings, toolkit: Toolkit) -> str:
    thought = _TREE if settings.strategy == "tree_of_thought" else _THOUGHT
    action = '"action": {"tool": "...", "parameters": {...}}, "confidence": 0.8'
    return render(
        "planned/rules",
        tools=toolkit.describe(),
        mode=settings.mode,
        strategy=settings.strategy,
        shape=f"{{{thought}, {action}}}",
    )
