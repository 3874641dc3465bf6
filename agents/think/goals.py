"""Plan before the first step, and adapt the plan after a goal that failed."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.contracts import Message, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ParseError, ProviderError
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.planning import Goal, GoalPlan, fallback_plan, goal_plan_of, read_goals, read_plan
from agents.policy import Think
from agents.prompting.prompts import conversation, enclosed_goal, render
from agents.prompting.window import Window, clamped, with_recent
from agents.reading.prose import Whole
from agents.state import State
from agents.tools.finishing import FAIL
from agents.tools.toolkit import Toolkit

logger = logging.getLogger(__name__)

_DESCRIPTION = 300


@dataclass(frozen=True)
class GoalThink:
    """Plan a task that `is_wanted`, mend the plan after a failed goal, else think as wrapped."""

    think: Think
    model: Model
    toolkit: Toolkit
    is_wanted: Callable[[str], bool]
    most: int = 8_000

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the plan in words with the plan itself, or the wrapped events."""
        plan = goal_plan_of(state.turns)
        if plan is None and len(state.turns) == 1 and self.is_wanted(state.goal):
            yield from self._plan(state)
        elif plan is not None and plan.failed is not None:
            yield from self._adapt(state, plan, plan.failed)
        else:
            yield from self.think(state)

    def _plan(self, state: State) -> Iterator[Event]:
        rules = render("planned/plan", tools=self.toolkit.describe())
        messages = conversation(rules, with_recent(state, self.most // 2), enclosed_goal(state))
        reader = Whole()
        plan = fallback_plan(state.goal[:_DESCRIPTION])
        try:
            yield from self.model.read(reader, messages, purpose=Purpose.PLAN_GOALS, as_json=True)
            plan = _plan_in(reader.said, plan)
            yield ThoughtDelta(text=plan.told())
        except ProviderError as error:
            logger.warning("No plan could be made (%s); the task is one goal.", error)
        yield _fixed(plan, plan.told())

    def _adapt(self, state: State, plan: GoalPlan, failed: Goal) -> Iterator[Event]:
        rules = render("planned/adapt", tools=self.toolkit.describe())
        reader, messages = Whole(), self._about(state, plan, failed, rules)
        yield from self.model.read(reader, messages, purpose=Purpose.ADAPT_PLAN, as_json=True)
        goals = _goals_in(reader.said)
        yield ThoughtDelta(text=_adapted(plan, goals))
        if goals:
            yield _fixed(plan.adapted(goals), _adapted(plan, goals))
        else:
            call = ToolCall(tool=FAIL, inputs={"reason": failed.outcome})
            text = _adapted(plan, goals)
            yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,)))

    def _about(self, state: State, plan: GoalPlan, failed: Goal, rules: str) -> list[Message]:
        steps = Window(self.most // 2).told(state.turns)
        asked = (
            f"{enclosed_goal(state)}\n\nPlan:\n{plan.told()}\n\n"
            f"Failed goal: {failed.description}\nWhy: {clamped(failed.outcome, 500)}{steps}"
        )
        return conversation(rules, with_recent(state, self.most // 4), asked)


def _fixed(plan: GoalPlan, text: str) -> ThoughtCompleted:
    kept = plan.model_dump(mode="json")
    return ThoughtCompleted(node=Thought(kind=ThoughtKind.THOUGHT, text=text, plan=kept))


def _plan_in(said: str, otherwise: GoalPlan) -> GoalPlan:
    try:
        return read_plan(said)
    except ParseError:
        return otherwise


def _goals_in(said: str) -> tuple[Goal, ...]:
    try:
        return read_goals(said)
    except ParseError:
        return ()


def _adapted(plan: GoalPlan, goals: tuple[Goal, ...]) -> str:
    return plan.adapted(goals).told() if goals else "There is no other way to the failed goal."
