"""Think in nodes: one JSON object that is a thought, a plain-language action or the answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Message, Purpose, Thought, ThoughtKind
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, goal_and_transcript, render
from agents.reading.markup.marks import without_end_marks
from agents.reading.markup.relabelled import prose_of
from agents.reading.node_reply import UNREADABLE, NodeReader
from agents.reading.thinking import part_thinking
from agents.state import State
from agents.text import CUT_SHORT, storable
from agents.think.reply import is_asked_again
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
        call = yield from self.model.read(reader, messages, purpose=Purpose.THINK, as_json=True)
        node = reader.node
        if node.text == UNREADABLE and is_asked_again(state) and (said := _prose(call.reply)):
            node = Thought(kind=ThoughtKind.FINAL, text="", answer=said)
            yield AnswerDelta(text=said)
        if call.is_cut and node.kind is ThoughtKind.FINAL:
            node = node.model_copy(update={"answer": node.answer + CUT_SHORT})
            yield AnswerDelta(text=CUT_SHORT)
        yield ThoughtCompleted(node=node)

    def _messages(self, state: State) -> list[Message]:
        tools = self.toolkit.tools
        sketch = [tool.description.splitlines()[0] for tool in tools[:_SKETCHED]]
        more = max(0, len(tools) - _SKETCHED)
        asked = goal_and_transcript(state)
        if is_asked_again(state):
            asked = f"{asked}\n\n{_WANTED}"
        return conversation(render("implicit/think", sketch=sketch, more=more), state, asked)


def _prose(reply: str) -> str:
    """Return what a reply that is no node says to a person."""
    return prose_of(without_end_marks(part_thinking(storable(reply)).said))
