"""The only place that renders a turn or a run for the live path, with the page's own templates."""

from collections.abc import Iterable

from django.template.loader import render_to_string

from agents.planning import GoalPlan
from chat.models import Approval, Run, Turn


def render_turn(turn: Turn, run: Run) -> str:
    """Return the HTML of one turn, stored or not, with the approval that is attached to it."""
    return render_to_string("chat/run/_turn.html", {"turn": turn, "run": run})


def render_plan(plan: GoalPlan, run: Run) -> str:
    """Return the HTML of a run's plan as it stands."""
    return render_to_string("chat/run/_plan.html", {"plan": plan, "run": run})


def render_run(run: Run, turns: Iterable[Turn] | None = None) -> str:
    """Return the HTML of a run with its turns, those that are stored if none are given.

    Read `run` before calling: its cursor must not be newer than the turns shown with it.
    """
    turns = Approval.objects.attach(run.turns.order_by("index") if turns is None else turns)
    return render_to_string("chat/run/_run.html", {"run": run, "turns": turns})
