"""Think in text: a thought, and then an action or a final answer, read while it streams."""

from collections.abc import Generator
from dataclasses import dataclass

from agents.contracts import Message, ModelCall, Purpose, Thought, ThoughtKind
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import scratchpad
from agents.reading.markup.conclusion import Reading
from agents.reading.text_reply import ReplyReader
from agents.state import State
from agents.text import CUT_SHORT, storable
from agents.think.reply import calls_of, is_asked_again, read_step, unread
from agents.tools.toolkit import Toolkit


@dataclass(frozen=True)
class TextThink:
    """Ask for the next step in the format Thought / Action / Action Input / Final Answer.

    A second reply in a row without any label is the answer: the model was told of the first.
    """

    model: Model
    toolkit: Toolkit

    def __call__(self, state: State) -> Generator[Event, None, None]:
        """Yield the thought and the answer as they come, then what they add up to."""
        reading, call = yield from read_step(
            self.model, self.toolkit, ReplyReader, self._messages(state), purpose=Purpose.THINK
        )
        answer = reading.answer
        if not answer and is_asked_again(state):
            answer = reading.prose
        node = self._node(reading, answer, call)
        if node.answer and (shown := reading.unshown(node.answer)):
            yield AnswerDelta(text=shown)
        yield ThoughtCompleted(node=node)

    def _messages(self, state: State) -> list[Message]:
        rules = render("explicit/rules", tools=self.toolkit.describe())
        work = f"Question:\n{enclosed('question', state.goal)}\n{scratchpad(state, self.toolkit)}"
        return conversation(rules, state, work)

    def _node(self, reading: Reading, answer: str, call: ModelCall) -> Thought:
        if answer:
            answer += CUT_SHORT if call.is_cut else ""
            text = reading.thought if reading.answer else ""
            return Thought(kind=ThoughtKind.FINAL, text=text, answer=answer)
        if reading.actions and not call.is_cut:
            calls = calls_of(reading.actions, self.toolkit)
            return Thought(kind=ThoughtKind.ACTION, text=reading.thought, calls=calls)
        if reading.error:
            return unread(reading)
        text = reading.thought or storable(call.reply).strip()
        return Thought(kind=ThoughtKind.THOUGHT, text=text)
