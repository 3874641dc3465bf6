"""Think about a try that failed, and begin the next one with what was learnt.

Reflexion (Shinn et al. 2023, arXiv 2303.11366): the lesson is words, and only it is carried on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents.contracts import EndReason, Message, Purpose
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.history.tries import last_try, lesson, lessons
from agents.model.model import Model
from agents.policy import Decide, Decision, Step, Think
from agents.prompting.prompts import conversation, enclosed, goal_and_transcript, render
from agents.reading.prose import Prose
from agents.state import State

NO_LESSON = "The last try did not come to an answer. I take another way."

_WHY = {
    EndReason.TURNS: "It took too many turns.",
    EndReason.REPEATS: "It repeated the same action without anything new.",
    EndReason.FAILURES: "One step after the other failed.",
}


@dataclass(frozen=True)
class LessonThink:
    """Reflect where `one_try` has halted, else think within the try, lessons first."""

    think: Think
    model: Model
    one_try: Decide

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the lesson, or the wrapped events."""
        begun = last_try(state)
        halt = self.one_try(replace(begun, turns=begun.turns[:-1]))
        if halt.step is Step.HALT:
            yield from self._reflect(state, begun, halt)
        else:
            yield from self.think(replace(begun, turns=[*lessons(state.turns), *begun.turns]))

    def _reflect(self, state: State, begun: State, halt: Decision) -> Iterator[Event]:
        learnt = lessons(state.turns)
        reader = Prose(lambda text: ThoughtDelta(text=text))
        yield from self.model.read(
            reader, self._messages(state, begun, halt), purpose=Purpose.LEARN
        )
        if not reader.said:
            yield ThoughtDelta(text=NO_LESSON)
        yield ThoughtCompleted(node=lesson(reader.said.text or NO_LESSON, len(learnt) + 1))

    def _messages(self, state: State, begun: State, halt: Decision) -> list[Message]:
        earlier = [turn.thought.text for turn in lessons(state.turns) if turn.thought]
        told = "".join(f"Earlier lesson:\n{enclosed('lesson', text)}\n\n" for text in earlier)
        why = _WHY.get(halt.reason or EndReason.TURNS, "")
        between = f"{told}Why the last try ended: {why}\n\n"
        return conversation(render("reflexion/learn"), state, goal_and_transcript(begun, between))
