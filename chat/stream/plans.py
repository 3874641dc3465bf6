"""The plan of a run as pages show it: folded from its stored turns, with each goal's state."""

from collections.abc import Iterable
from functools import reduce

from django.db.models import Q, QuerySet

from agents import contracts
from agents.planning import GoalPlan, plan_after
from agents.tools.finishing import COMPLETE, FAIL
from chat.models import Action, Run, Turn, TurnStatus

_PLANS = "planned"
"""The policy whose turns fix plans of goals."""


def plan_shown(run: Run, turns: Iterable[Turn] | None = None) -> GoalPlan | None:
    """Return the plan as far as it has come, None for a run without one.

    `turns` are all of the run, where they are at hand; else those that say so are read.
    """
    if run.policy_version.content.get("policy") != _PLANS:
        return None
    return reduce(after, _settling(run) if turns is None else turns, None)


def after(plan: GoalPlan | None, turn: Turn) -> GoalPlan | None:
    """Return the plan as it stands after a turn more; one that may still change says nothing."""
    return plan if turn.status == TurnStatus.OPEN else plan_after(plan, _said(turn))


def _settling(run: Run) -> QuerySet[Turn]:
    """Return the turns that fix a plan or settle a goal, each once."""
    settles = Q(
        pk__in=Action.objects.filter(turn__run=run, tool__in=(COMPLETE, FAIL)).values("turn")
    )
    return run.turns.filter(Q(plan__isnull=False) | settles | ~Q(answer="")).order_by("index")


def _said(turn: Turn) -> contracts.Turn:
    """Return what a turn says of a plan, without what its tools brought."""
    thought = contracts.Thought(
        kind=contracts.ThoughtKind(turn.kind), text="", answer=turn.answer, plan=turn.plan
    )
    settling = (action for action in turn.actions if action.tool in (COMPLETE, FAIL))
    actions = (_settled(action) for action in settling if action.observation is not None)
    return contracts.Turn(index=turn.index, thought=thought, actions=tuple(actions))


def _settled(action: Action) -> contracts.Action:
    ends = contracts.EndReason(action.ends) if action.ends else None
    seen = contracts.Observation(text="", error=action.error or None, ends=ends)
    call = contracts.ToolCall(tool=action.tool, inputs=action.inputs or {})
    return contracts.Action(call=call, observation=seen)
