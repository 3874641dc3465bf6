"""A plan of phases and goals: when one is needed, and how far it has come.

The plan as a model fixed it stands in the turn that fixed it; which goals are settled follows from
the turns after it, so that a replay knows the same plan.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import reduce
from typing import Any

from pydantic import ValidationError

from agents.contracts import Action, Exchange, Turn, Value
from agents.tools.finishing import COMPLETE, FAIL, GOAL_FAILED

_COMPLEX = re.compile(
    r"\b(?:all|every|each|multiple|several|extract|compare|validate|verify|scrape|collect|gather"
    r"|pages|then|after|complex|comprehensive|detailed|analy[sz]e|summari[sz]e)\b"
)
_SIMPLE = re.compile(r"\b(?:click|type|navigate to|go to|open|close|scroll|hover)\b")
_MAX_OUTCOME = 20_000


class GoalStatus(StrEnum):
    """How far a goal has come; a replaced one failed, and others stand in its place."""

    PENDING = "pending"
    REACHED = "reached"
    FAILED = "failed"
    REPLACED = "replaced"


class Goal(Value):
    """What is to be reached, how one knows that it is, and what came of it."""

    description: str
    success_criteria: str = ""
    status: GoalStatus = GoalStatus.PENDING
    outcome: str = ""


class Phase(Value):
    """Goals that belong together, in their order."""

    name: str
    goals: tuple[Goal, ...]


class GoalPlan(Value):
    """The phases of a run; `source` says who made them, `adaptations` how often it was mended.

    `task` is what was asked first, where the run goes on with the plan of one that asked back.
    """

    phases: tuple[Phase, ...]
    source: str = "model"
    adaptations: int = 0
    task: str = ""

    @property
    def goals(self) -> list[Goal]:
        """Return the goals of all phases in order."""
        return [goal for phase in self.phases for goal in phase.goals]

    @property
    def failed(self) -> Goal | None:
        """Return the goal that failed and that nothing replaced."""
        return next((goal for goal in self.goals if goal.status is GoalStatus.FAILED), None)

    @property
    def current(self) -> Goal | None:
        """Return the goal to work on; None when all are settled, or one has failed."""
        if self.failed is not None:
            return None
        return next((goal for goal in self.goals if goal.status is GoalStatus.PENDING), None)

    @property
    def number(self) -> int:
        """Return the number of the current goal as people count, from 1."""
        return 1 + sum(goal.status is not GoalStatus.PENDING for goal in self.goals)

    @property
    def wanted(self) -> int:
        """Return how many goals there are, but for those that others replace."""
        return sum(goal.status is not GoalStatus.REPLACED for goal in self.goals)

    @property
    def reached(self) -> int:
        """Return how many goals are reached."""
        return sum(goal.status is GoalStatus.REACHED for goal in self.goals)

    @property
    def is_at_last(self) -> bool:
        """Tell whether the current goal is the last one."""
        return sum(goal.status is GoalStatus.PENDING for goal in self.goals) == 1

    def settled(self, status: GoalStatus, outcome: str) -> "GoalPlan":
        """Return the plan with its current goal settled."""
        current = self.current
        if current is None:
            return self
        done = current.model_copy(update={"status": status, "outcome": outcome[:_MAX_OUTCOME]})
        return self._with(current, (done,))

    def adapted(self, goals: Iterable[Goal]) -> "GoalPlan":
        """Return the plan with these goals in the place of the failed one and its phase's rest."""
        failed = self.failed
        if failed is None:
            return self
        phase = next(phase for phase in self.phases if failed in phase.goals)
        kept = tuple(goal for goal in phase.goals if goal.status is GoalStatus.REACHED)
        gone = tuple(goal for goal in phase.goals if goal.status is GoalStatus.REPLACED)
        replaced = failed.model_copy(update={"status": GoalStatus.REPLACED})
        mended = phase.model_copy(update={"goals": (*kept, *gone, replaced, *goals)})
        phases = tuple(mended if each is phase else each for each in self.phases)
        changed = {"source": "adapted", "adaptations": self.adaptations + 1}
        return self.model_copy(update={"phases": phases, **changed})

    def told(self) -> str:
        """Write the plan as lines that people and models read."""
        lines: list[str] = []
        number = 0
        for place, phase in enumerate(self.phases, start=1):
            lines.append(f"Phase {place}: {phase.name}")
            for goal in phase.goals:
                number += 1
                mark = "now" if goal is self.current else goal.status.value
                until = f" (reached when: {goal.success_criteria})" if goal.success_criteria else ""
                lines.append(f"  {number}. [{mark}] {goal.description[:300]}{until}")
        return "\n".join(lines)

    def _with(self, old: Goal, new: tuple[Goal, ...]) -> "GoalPlan":
        phases: list[Phase] = []
        for phase in self.phases:
            goals = [each for goal in phase.goals for each in (new if goal is old else (goal,))]
            phases.append(phase.model_copy(update={"goals": tuple(goals)}))
        return self.model_copy(update={"phases": tuple(phases)})


def needs_plan(task: str) -> bool:
    """Tell a task of several steps from one that is done at once, by its words.

    Two words of complexity, or more than 15 words and none of a simple act, or "and" in more than
    10 words. Words are whole words: "small" is not "all".
    """
    plain = task.lower()
    count = len(plain.split())
    if len(set(_COMPLEX.findall(plain))) >= 2:
        return True
    if count > 15 and _SIMPLE.search(plain) is None:
        return True
    return count > 10 and re.search(r"\band\b", plain) is not None


def fallback_plan(task: str) -> GoalPlan:
    """Return the plan of one phase and one goal: the task itself."""
    return GoalPlan(
        phases=(Phase(name="Task Execution", goals=(Goal(description=task),)),), source="fallback"
    )


def goal_plan_of(turns: Iterable[Turn]) -> GoalPlan | None:
    """Return the plan as far as it has come by these turns; None for a run without one."""
    return reduce(plan_after, turns, None)


def plan_after(plan: GoalPlan | None, turn: Turn) -> GoalPlan | None:
    """Return the plan as it stands after a turn more; None while there is none."""
    fixed = None if turn.thought is None else plan_in(turn.thought.plan)
    plan = fixed or (plan if plan is None else reduce(_after, turn.actions, plan))
    if plan is None or turn.thought is None or not turn.thought.answer:
        return plan
    return plan.settled(GoalStatus.REACHED, turn.thought.answer)


def plan_in(kept: Mapping[str, Any] | None) -> GoalPlan | None:
    """Return what a turn has fixed as a plan of goals; None for what other policies fix."""
    if kept is None or "phases" not in kept:
        return None
    try:
        return GoalPlan.model_validate(kept)
    except ValidationError:
        return None


def gone_on_with(history: Sequence[Exchange]) -> GoalPlan | None:
    """Return what is left of the plan of a run that asked back just before, None where nothing."""
    plan = plan_in(history[-1].plan) if history else None
    if plan is None or plan.current is None:
        return None
    task = plan.task or history[-1].question
    return plan.model_copy(update={"source": "continued", "task": task})


def _after(plan: GoalPlan, action: Action) -> GoalPlan:
    call, seen = action.call, action.observation
    if call is None or seen is None:
        return plan
    if call.tool == COMPLETE and seen.error is None:
        return plan.settled(GoalStatus.REACHED, str(call.inputs.get("result", "")))
    if call.tool == FAIL and (seen.error == GOAL_FAILED or seen.ends is not None):
        return plan.settled(GoalStatus.FAILED, str(call.inputs.get("reason", "")))
    return plan


def may_adapt(turns: Sequence[Turn], most: int) -> bool:
    """Tell whether another way may be planned to the current goal, of at most so many.

    None is to a model that has not taken one step yet since its plan was fixed.
    """
    plan = goal_plan_of(turns)
    if plan is None or plan.current is None or plan.adaptations >= most:
        return False
    fixed = max(at for at, turn in enumerate(turns) if turn.thought and turn.thought.plan)
    return any(turn.calls for turn in turns[fixed + 1 :])
