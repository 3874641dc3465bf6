"""What a run knows: its goal and its turns, folded from events, so that it can be replayed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.contracts import Exchange, Outcome, Reason, ReasonKind, Turn
from agents.events import ActionProposed, Event, Observed, Reasoned, RunEnded, TurnStarted


@dataclass
class State:
    """The goal, the earlier exchanges of the conversation, and the turns so far.

    Only the loop calls `apply`; components read. A stored run is replayed by passing its turns.
    """

    goal: str
    history: Sequence[Exchange] = ()
    turns: list[Turn] = field(default_factory=list)
    halted: Reason | None = None
    outcome: Outcome | None = None

    @property
    def is_complete(self) -> bool:
        """Tell whether the run has ended."""
        return self.outcome is not None

    @property
    def final_answer(self) -> str:
        """Return the answer, empty while there is none."""
        if self.outcome is not None:
            return self.outcome.answer
        last = self.turns[-1].thought if self.turns else None
        return last.answer if last is not None and last.kind is ReasonKind.FINAL else ""

    def apply(self, event: Event) -> None:
        """Fold one event into the state."""
        match event:
            case TurnStarted(index=index):
                self.turns.append(Turn(index=index))
            case Reasoned(node=node):
                self._amend(thought=node)
            case ActionProposed(call=call):
                self._amend(action=call)
            case Observed(observation=observation):
                self._amend(observation=observation)
            case RunEnded(outcome=outcome):
                self.outcome = outcome

    def transcript(self) -> str:
        """Write the run as the lines that the implicit policy reasons over."""
        lines = [f"Goal: {self.goal}"]
        for turn in self.turns:
            if turn.thought is not None:
                text = turn.thought.answer or turn.thought.text
                lines.append(f"{turn.thought.kind.upper()}: {text}")
            if turn.action is not None:
                lines.append(f"ACTION_EXECUTED: tool_id={turn.action.tool}")
            if turn.observation is not None:
                lines.append(f"OBSERVATION: {turn.observation.text}")
        return "\n".join(lines)

    def _amend(self, **part: object) -> None:
        self.turns[-1] = self.turns[-1].model_copy(update=part)
