"""Reflect after a step that failed, before the next one is thought (ReAct with self-reflection)."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents.contracts import Purpose, Thought, ThoughtKind, Turn
from agents.errors import ProviderError
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.history.retries import failed_action
from agents.model.model import Model
from agents.policy import Think
from agents.prompting.prompts import conversation, enclosed_goal, render
from agents.prompting.window import Window, with_recent
from agents.reading.prose import Whole
from agents.state import State
from agents.text import storable

logger = logging.getLogger(__name__)

_STEPS = 3
_LONGEST = 2_000
BETWEEN = "\n\n"


@dataclass(frozen=True)
class ReflectiveThink:
    """Ask what the last failure teaches, and let the wrapped think know it.

    The reflection is the beginning of the turn's thought, so it takes no turn of its own.
    """

    think: Think
    model: Model
    most: int = 4_000

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the reflection where the last step failed, then the wrapped events."""
        if not _has_failed(state):
            yield from self.think(state)
            return
        steps = Window(self.most, _STEPS).told(state.turns[-1 - _STEPS :])
        messages = conversation(
            render("planned/reflect"),
            with_recent(state, self.most // 4),
            f"{enclosed_goal(state)}{steps}",
        )
        reader = Whole()
        try:
            yield from self.model.read(reader, messages, purpose=Purpose.REFLECT)
        except ProviderError as error:
            logger.warning("A step goes on without its reflection: %s", error)
            reader = Whole()
        said = storable(reader.said).strip()[:_LONGEST]
        if said:
            yield ThoughtDelta(text=said + BETWEEN)
        yield from self._knowing(said, state)

    def _knowing(self, said: str, state: State) -> Iterator[Event]:
        """Yield the events of the wrapped think, which sees the reflection as a step."""
        if not said:
            yield from self.think(state)
            return
        open_turn = state.turns[-1]
        lesson = Turn(index=open_turn.index, thought=Thought(kind=ThoughtKind.THOUGHT, text=said))
        knowing = replace(state, turns=[*state.turns[:-1], lesson, open_turn])
        for event in self.think(knowing):
            if isinstance(event, ThoughtCompleted):
                text = f"{said}{BETWEEN}{event.node.text}".strip()
                event = ThoughtCompleted(node=event.node.model_copy(update={"text": text}))
            yield event


def _has_failed(state: State) -> bool:
    before = state.turns[-2] if len(state.turns) > 1 else None
    return before is not None and failed_action(before) is not None
