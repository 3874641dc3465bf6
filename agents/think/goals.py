"""Plan before the first step, and adapt the plan after a goal that failed."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from agents.contracts import EndReason, Message, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ParseError, ProviderError
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.planning import (
    Goal,
    GoalPlan,
    GoalStatus,
    fallback_plan,
    goal_plan_of,
    gone_on_with,
    may_adapt,
)
from agents.policy import Decide, Think
from agents.prompting.prompts import conversation, enclosed_goal, render
from agents.prompting.window import Window, clamped, with_recent
from agents.reading.prose import Whole
from agents.reading.structured.schema import NEW_GOALS, PHASES
from agents.state import State, observed
from agents.think.goal_reply import read_goals, read_plan
from agents.tools.finishing import FAIL
from agents.tools.toolkit import Toolkit

logger = logging.getLogger(__name__)

_DESCRIPTION = 300
_SEEN = 300
_STUCK = {
    EndReason.FAILURES: "One step after the other failed.",
    EndReason.REPEATS: "Step after step brought nothing new.",
}
_NO_WAY = "There is no other way to the failed goal."
_UNREAD = "The plan could not be adapted: what was to be another way could not be read."


@dataclass(frozen=True)
class GoalThink:
    """Plan a task that `is_wanted`, mend the plan after a failed goal, else think as wrapped.

    A run that follows a question back goes on with the plan of the one that asked, as it stood. A
    goal has failed as well where `limits` would halt the run for failures or repeats: the plan is
    mended then up to `adaptations` times.
    """

    think: Think
    model: Model
    toolkit: Toolkit
    is_wanted: Callable[[str], bool]
    limits: Decide
    adaptations: int = 2
    most: int = 8_000

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the plan in words with the plan itself, or the wrapped events."""
        plan = goal_plan_of(state.turns)
        is_first = plan is None and len(state.turns) == 1
        if is_first and (left := gone_on_with(state.history)) is not None:
            yield ThoughtDelta(text=left.told())
            yield _fixed(left, left.told())
        elif is_first and self.is_wanted(state.goal):
            yield from self._plan(state)
        elif plan is not None and (failed := self._failed(state, plan)) is not None:
            yield from self._adapt(state, failed)
        else:
            yield from self.think(state)

    def _plan(self, state: State) -> Iterator[Event]:
        rules = render("planned/plan", tools=self.toolkit.describe())
        messages = conversation(rules, with_recent(state, self.most // 2), enclosed_goal(state))
        reader = Whole()
        plan = fallback_plan(state.goal[:_DESCRIPTION])
        try:
            yield from self.model.read(
                reader, messages, purpose=Purpose.PLAN_GOALS, as_json=True, reply_schema=PHASES
            )
            plan = _plan_in(reader.said, plan)
            yield ThoughtDelta(text=plan.told())
        except ProviderError as error:
            logger.warning("No plan could be made (%s); the task is one goal.", error)
        yield _fixed(plan, plan.told())

    def _failed(self, state: State, plan: GoalPlan) -> GoalPlan | None:
        """Return the plan with its goal failed, by the model's own word or for want of progress."""
        if plan.failed is not None:
            return plan
        before = replace(state, turns=state.turns[:-1])
        halted = self.limits(before).reason
        if halted not in _STUCK or not may_adapt(before.turns, self.adaptations):
            return None
        last = before.turns[-1].last_observation
        seen = "" if last is None else clamped(observed(last), _SEEN)
        return plan.settled(GoalStatus.FAILED, f"{_STUCK[halted]} The last one came to: {seen}")

    def _adapt(self, state: State, plan: GoalPlan) -> Iterator[Event]:
        """Yield the plan with other goals; where there are none, the run fails with its goal."""
        rules = render("planned/adapt", tools=self.toolkit.describe())
        reader, messages = Whole(), self._about(state, plan, rules)
        yield from self.model.read(
            reader, messages, purpose=Purpose.ADAPT_PLAN, as_json=True, reply_schema=NEW_GOALS
        )
        goals = _goals_in(reader.said)
        if goals:
            adapted = plan.adapted(goals)
            yield ThoughtDelta(text=adapted.told())
            yield _fixed(adapted, adapted.told())
            return
        text = _UNREAD if goals is None else _NO_WAY
        yield ThoughtDelta(text=text)
        why = "" if plan.failed is None else plan.failed.outcome
        call = ToolCall(tool=FAIL, inputs={"reason": why})
        kept = plan.model_dump(mode="json")
        yield ThoughtCompleted(
            node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,), plan=kept)
        )

    def _about(self, state: State, plan: GoalPlan, rules: str) -> list[Message]:
        steps = Window(self.most // 2).told(state.turns)
        failed = plan.failed or Goal(description="")
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


def _goals_in(said: str) -> tuple[Goal, ...] | None:
    """Return the goals of a reply, none where it says so, None where it says neither."""
    try:
        return read_goals(said)
    except ParseError:
        return None
