"""Say below a thought or an answer that the model was stopped because it only repeated itself."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.events import AnswerDelta, Event, ModelCalled, ThoughtCompleted, ThoughtDelta
from agents.model.repeats import REPEATS
from agents.policy import Think
from agents.state import State
from agents.text import REPEATED


@dataclass(frozen=True)
class RepeatsTold:
    """Think as wrapped; the model reads in its next turn, too, what became of the one before."""

    think: Think

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield what is thought; the call that counts is the last one before the node."""
        has_repeated = False
        for event in self.think(state):
            if isinstance(event, ModelCalled):
                has_repeated = event.call.stop_reason == REPEATS
            if not isinstance(event, ThoughtCompleted) or not has_repeated:
                yield event
                continue
            node = event.node
            if node.answer:
                yield AnswerDelta(text=REPEATED)
                told = {"answer": node.answer + REPEATED}
            else:
                yield ThoughtDelta(text=REPEATED)
                told = {"text": node.text + REPEATED}
            yield ThoughtCompleted(node=node.model_copy(update=told))
