"""Think in text: a thought, and then an action or a final answer, read while it streams."""

from collections.abc import Generator
from dataclasses import dataclass

from agents.contracts import Message, ModelCall, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ToolError
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import scratchpad
from agents.reading.text_reply import ReplyReader, TextReply
from agents.state import State
from agents.text import CUT_SHORT, storable
from agents.tools.toolkit import Toolkit

STOP = ("\nObservation:",)
_NAME_LIMIT = 100


@dataclass(frozen=True)
class TextThink:
    """Ask for the next step in the format Thought / Action / Action Input / Final Answer."""

    model: Model
    toolkit: Toolkit

    def __call__(self, state: State) -> Generator[Event, None, None]:
        """Yield the thought and the answer as they come, then what they add up to."""
        reader = ReplyReader()
        messages = self._messages(state)
        call = yield from self.model.read(reader, messages, purpose=Purpose.THINK, stop=STOP)
        if call.is_cut and reader.reply.answer:
            yield AnswerDelta(text=CUT_SHORT)
        yield ThoughtCompleted(node=self._node(reader.reply, call))

    def _messages(self, state: State) -> list[Message]:
        rules = render("explicit/rules", tools=self.toolkit.describe())
        work = f"Question:\n{enclosed('question', state.goal)}\n{scratchpad(state, self.toolkit)}"
        return conversation(rules, state, work)

    def _node(self, reply: TextReply, call: ModelCall) -> Thought:
        if reply.answer:
            answer = reply.answer + (CUT_SHORT if call.is_cut else "")
            return Thought(kind=ThoughtKind.FINAL, text=reply.thought, answer=answer)
        if reply.tool and not call.is_cut:
            action = self._call(reply.tool[:_NAME_LIMIT], reply.tool_input)
            return Thought(kind=ThoughtKind.ACTION, text=reply.thought, calls=(action,))
        text = reply.thought or storable(call.reply).strip()
        return Thought(kind=ThoughtKind.THOUGHT, text=text)

    def _call(self, name: str, text: str) -> ToolCall:
        """Return the action; what cannot be read fails when it is called, as an observation."""
        try:
            tool = self.toolkit.get(name)
            return ToolCall(tool=tool.name, inputs=self.toolkit.inputs_from_text(tool, text))
        except ToolError:
            return ToolCall(tool=name, inputs={"input": text})
