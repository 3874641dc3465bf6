"""Settle goals: what complete and fail mean while a plan has more goals, or may be adapted."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Observation
from agents.events import Event, Observed
from agents.planning import GoalPlan, GoalStatus, goal_plan_of
from agents.policy import Act
from agents.state import State
from agents.tools.finishing import COMPLETE, FAIL, GOAL_FAILED


@dataclass(frozen=True)
class GoalAct:
    """Tell of a reached goal what comes next, and of a failed one whether there is another way.

    A failed goal ends the run, unless the plan may be adapted still: it may `adaptations` times.
    """

    act: Act
    adaptations: int = 2

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the observation of a settled goal with what follows from it."""
        plan = goal_plan_of(state.turns)
        for event in self.act(state):
            if isinstance(event, Observed) and plan is not None:
                event = Observed(observation=self._settled(state, plan, event.observation))
            yield event

    def _settled(self, state: State, plan: GoalPlan, seen: Observation) -> Observation:
        action = state.turns[-1].open_action
        call = None if action is None else action.call
        if call is None or seen.error is not None or plan.current is None:
            return seen
        if call.tool == COMPLETE:
            return seen.model_copy(update={"text": f"{seen.text}\n\n{_next(plan, seen.text)}"})
        if call.tool == FAIL and plan.adaptations < self.adaptations:
            text = f"{seen.text}\n\nGoal {plan.number} of {len(plan.goals)} failed."
            return Observation(text=text, error=GOAL_FAILED)
        return seen


def _next(plan: GoalPlan, result: str) -> str:
    following = plan.settled(GoalStatus.REACHED, result).current
    reached = f"Goal {plan.number} of {len(plan.goals)} is reached."
    return reached if following is None else f"{reached} Next: {following.description}"
