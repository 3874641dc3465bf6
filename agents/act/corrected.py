"""Answer a reply that came to no action with what is wrong with it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.contracts import Observation
from agents.events import Event, Observed
from agents.policy import Act
from agents.state import State


@dataclass(frozen=True)
class CorrectedAct:
    """Observe what `complaint` says of a thought without an action; else act as wrapped."""

    act: Act
    complaint: Callable[[str], Observation]

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, or the observation that corrects the thought."""
        turn = state.turns[-1]
        if turn.thought is None or turn.thought.calls or turn.actions:
            yield from self.act(state)
            return
        yield Observed(observation=self.complaint(turn.thought.text))
