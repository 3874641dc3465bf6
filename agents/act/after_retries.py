"""Say of a tool that failed once too often that it was tried, so that another way is taken."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Observation, Turn
from agents.events import ActionsProposed, Event, ObservationDelta, Observed
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
                case ActionsProposed(calls=calls):
                    turn = turn.with_calls(calls)
                case ObservationDelta(text=text):
                    shown.append(text)
                case Observed(observation=observation):
                    event = self._marked(state, turn, observation, "".join(shown))
            yield event

    def _marked(self, state: State, turn: Turn, seen: Observation, shown: str) -> Observed:
        failed, action = turn.with_observation(seen), turn.open_action
        is_last = self.retries.are_used_up([*state.turns[:-1], failed])
        if seen.error is None or action is None or action.call is None or not is_last:
            return Observed(observation=seen)
        # What the tool printed stays where the page has shown it.
        error = seen.text.removeprefix(shown).lstrip("\n")
        marked = f"[tool:{action.call.tool}] failed after retries: {error}"
        text = "\n".join(filter(None, [shown, marked]))
        return Observed(observation=seen.model_copy(update={"text": text}))
