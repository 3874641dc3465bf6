"""Say of a tool that failed once too often that it was tried, so that another way is taken."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Observation, Turn
from agents.events import ActionProposed, Event, ObservationDelta, Observed
from agents.history.retries import Retries
from agents.policy import Act
from agents.state import State


@dataclass(frozen=True)
class RetriedAct:
    """Mark the observation of the last try at a tool; the run goes on from it."""

    act: Act
    retries: Retries

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, the last failure as one after retries."""
        turn, shown = state.turns[-1], list[str]()
        for event in self.act(state):
            match event:
                case ActionProposed(call=call):
                    turn = turn.model_copy(update={"action": call})
                case ObservationDelta(text=text):
                    shown.append(text)
                case Observed(observation=observation):
                    event = self._marked(state, turn, observation, "".join(shown))
            yield event

    def _marked(self, state: State, turn: Turn, seen: Observation, shown: str) -> Observed:
        failed = turn.model_copy(update={"observation": seen})
        if turn.action is None or not self.retries.are_used_up([*state.turns[:-1], failed]):
            return Observed(observation=seen)
        # What the tool printed stays where the page has shown it.
        error = seen.text.removeprefix(shown).lstrip("\n")
        marked = f"[tool:{turn.action.tool}] failed after retries: {error}"
        text = "\n".join(filter(None, [shown, marked]))
        return Observed(observation=seen.model_copy(update={"text": text}))
