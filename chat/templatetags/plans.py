"""The plan of a run on a page, and its goals in words."""

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString

from agents.planning import Goal, GoalPlan, GoalStatus
from chat.models import Run, Turn
from chat.stream.plans import plan_shown
from chat.stream.render import render_plan

register = template.Library()

_WORDS = {
    GoalStatus.PENDING: "to do",
    GoalStatus.REACHED: "reached",
    GoalStatus.FAILED: "failed",
    GoalStatus.REPLACED: "another way was taken",
}
_NOW = "now"


@register.simple_tag
def plan_of(run: Run, turns: Sequence[Turn] | None = None) -> str:
    """Show the plan of a run as it stands, nothing for a run without one."""
    is_whole = turns is not None and (not turns or turns[0].index == 0)
    plan = plan_shown(run, turns if is_whole else None)
    return SafeString("" if plan is None else render_plan(plan, run))


@register.filter
def is_current(goal: Goal, plan: GoalPlan) -> bool:
    """Tell whether it is the goal that is worked on."""
    return goal is plan.current


@register.filter
def goal_state(goal: Goal, plan: GoalPlan) -> str:
    """Name the state of a goal for its style."""
    return _NOW if goal is plan.current else goal.status.value


@register.filter
def goal_in_words(goal: Goal, plan: GoalPlan) -> str:
    """Say how far a goal has come."""
    return _NOW if goal is plan.current else _WORDS[goal.status]
