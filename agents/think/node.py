"""Think in nodes: one JSON object that is a thought, a plain-language action or the answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Message, Purpose, Thought, ThoughtKind
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, goal_and_transcript, render
from agents.reading.node_reply import UNREADABLE, NodeReader
from agents.reading.structured.schema import NODE
from agents.state import State
from agents.text import CUT_SHORT
from agents.think.reply import calls_of, is_asked_again, read_otherwise
from agents.tools.toolkit import Toolkit

_SKETCHED = 15
_WANTED = (
    'Your last reply was no JSON object with "kind" and "text". Reply with exactly one, such as '
    '{"kind": "FINAL", "text": "the answer"}.'
)


@dataclass(frozen=True)
class NodeThink:
    """Ask for the next node; the catalogue of tools stays out of the prompt but for a sketch."""

    model: Model
    toolkit: Toolkit

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the text as it comes, then the node; an unreadable reply is a plain thought."""
        reader = NodeReader()
        messages = self._messages(state)
        call = yield from self.model.read(
            reader, messages, purpose=Purpose.THINK, as_json=True, reply_schema=NODE
        )
        node = reader.node
        if node.text == UNREADABLE and not call.is_cut:
            node = self._otherwise(call.reply, state)
            if node.answer:
                yield AnswerDelta(text=node.answer)
        if call.is_cut and node.kind is ThoughtKind.FINAL:
            node = node.model_copy(update={"answer": node.answer + CUT_SHORT})
            yield AnswerDelta(text=CUT_SHORT)
        yield ThoughtCompleted(node=node)

    def _otherwise(self, reply: str, state: State) -> Thought:
        """Read a reply that is no node: an answer, a call, or at the second time what it says."""
        habit = self.model.asked(Purpose.THINK).provider.thinks_first
        reading = read_otherwise(reply, self.toolkit, thinks_first=habit)
        calls = calls_of(reading.actions, self.toolkit)
        if reading.answer:
            return Thought(kind=ThoughtKind.FINAL, text=reading.thought, answer=reading.answer)
        if reading.prose and is_asked_again(state):
            return Thought(kind=ThoughtKind.FINAL, text=reading.aloud, answer=reading.prose)
        if calls and all(self.toolkit.knows(call.tool) for call in calls):
            return Thought(kind=ThoughtKind.ACTION, text=reading.thought, calls=calls)
        text = "\n\n".join(filter(None, [UNREADABLE, reading.aloud]))
        return Thought(kind=ThoughtKind.THOUGHT, text=text)

    def _messages(self, state: State) -> list[Message]:
        tools = self.toolkit.tools
        sketch = [tool.description.splitlines()[0] for tool in tools[:_SKETCHED]]
        more = max(0, len(tools) - _SKETCHED)
        asked = goal_and_transcript(state)
        if is_asked_again(state):
            asked = f"{asked}\n\n{_WANTED}"
        return conversation(render("implicit/think", sketch=sketch, more=more), state, asked)
