"""Think aloud, and then write one action as JSON, or the final answer between markers."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from agents.contracts import Message, Observation, Thought, ThoughtKind, ToolCall
from agents.errors import ParseError, ToolNotFound
from agents.events import AnswerDelta, Event, ModelCalled, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import json_scratchpad
from agents.providers.base import Token
from agents.reading.action import WrittenAction, read_action
from agents.reading.action_reply import ActionReader, ActionReply
from agents.reading.thinking import Piece, ThinkingReader
from agents.state import State
from agents.think.text import CUT_SHORT
from agents.tools.toolkit import Toolkit

STOP = ("\nObservation:",)
_NAME_LIMIT = 100
_BROKEN = "\n\nAction: "
_NUDGE = (
    "You have tools for this. Look at their list again and call the one that helps; only when none "
    "does, give that as your final answer."
)
_REFUSAL = re.compile(
    r"\b(?:can(?:not|['\u2019]?t)|(?:am|['\u2019]m) (?:not able|unable) to|no access to"
    r"|do(?:n['\u2019]t| not) have (?:the )?(?:access|ability|tools?|means))\b",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 600


@dataclass(frozen=True)
class ActionThink:
    """Ask for the next action or the answer; a reply that is neither forces one final call.

    `has_markers` asks for the answer between markers, else behind a label, for models that lose
    markers; both are read either way.
    """

    model: Model
    toolkit: Toolkit
    has_markers: bool = True

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the thought and the answer as they come, then what they add up to."""
        reader = ActionReader()
        items = self.model.stream(
            self._messages(state), purpose="think", stop=STOP, enough=lambda: reader.done
        )
        cut = yield from read_reply(reader, items)
        node = concluded(reader.reply, self.toolkit, cut=cut)
        if node is None and self._refuses(reader.reply.thought, state):
            node = Thought(kind=ThoughtKind.THOUGHT, text=reader.reply.thought)
        if node is None:
            node = yield from self._final(state, reader.reply.thought)
        yield ThoughtCompleted(node=node)

    def _messages(self, state: State) -> list[Message]:
        rules = render(
            "self_repair/rules", tools=self.toolkit.describe(), has_markers=self.has_markers
        )
        return conversation(rules, state, question_and_work(state))

    def _refuses(self, thought: str, state: State) -> bool:
        """Tell a model that gives up before it tried a tool; it is nudged once."""
        is_first = len(state.turns) == 1
        is_short = len(thought) <= _REFUSAL_LENGTH
        return bool(
            is_first and is_short and self.toolkit.tools and _REFUSAL.search(thought) is not None
        )

    def _final(self, state: State, thought: str) -> Generator[Event, None, Thought]:
        """Ask once for nothing but the answer; without one, what was said before is the answer."""
        cooler = max(0.2, (self.model.temperature or 0.0) - 0.3)
        model = replace(self.model, temperature=cooler)
        work = f"{question_and_work(state)}{thought}\n\nFinal Answer: "
        messages = conversation(render("self_repair/final"), state, work)
        answer: list[str] = []
        cut = False
        for event in _answered(model.stream(messages, purpose="final")):
            if isinstance(event, AnswerDelta):
                answer.append(event.text)
            else:
                cut = event.call.stop_reason == "length"
            yield event
        if not answer and thought:
            answer.append(thought)
            yield AnswerDelta(text=thought)
        elif cut and answer:
            answer.append(CUT_SHORT)
            yield AnswerDelta(text=CUT_SHORT)
        if not answer:
            return Thought(kind=ThoughtKind.THOUGHT, text="")
        return Thought(kind=ThoughtKind.FINAL, text=thought, answer="".join(answer))


def question_and_work(state: State) -> str:
    """Write the question verbatim and the steps so far, up to where the model goes on."""
    return f"Question:\n{enclosed('question', state.goal)}\n{json_scratchpad(state)}"


def read_reply(
    reader: ActionReader, items: Iterator[Token | ModelCalled]
) -> Generator[Event, None, bool]:
    """Yield what a reply shows and the record of its call; return whether it was cut short."""
    cut = False
    for item in items:
        if isinstance(item, ModelCalled):
            cut = item.call.stop_reason == "length"
            yield from reader.finish(is_cut=cut)
            yield item
        elif item.kind == "reasoning":
            yield from reader.think_aloud(item.text)
        else:
            yield from reader.feed(item.text)
    if cut and reader.reply.answer:
        yield AnswerDelta(text=CUT_SHORT)
    return cut


def concluded(reply: ActionReply, toolkit: Toolkit, *, cut: bool) -> Thought | None:
    """Return what a reply comes to, None for neither an action nor an answer.

    What was meant for an action and cannot be read is a thought, which `complaint` answers.
    """
    if reply.answer:
        answer = reply.answer + (CUT_SHORT if cut else "")
        return Thought(kind=ThoughtKind.FINAL, text=reply.thought, answer=answer)
    if reply.action is not None and reply.action.tool is not None:
        call = _call(reply.action, reply.action.tool, toolkit)
        return Thought(kind=ThoughtKind.ACTION, text=reply.thought, call=call)
    if reply.error:
        text = f"{reply.thought}{_BROKEN}{reply.broken}".lstrip()
        return Thought(kind=ThoughtKind.THOUGHT, text=text)
    return None


def complaint(thought: str) -> Observation:
    """Say to a thought without an action what is wrong with it, from its text alone."""
    before, label, written = f"\n\n{thought}".rpartition(_BROKEN)
    if label:
        try:
            read_action(written)
        except ParseError as error:
            return _unreadable(f"The action could not be read. {error}")
        return _unreadable("The action could not be read: it breaks off.")
    if before or written.strip():
        return Observation(text=_NUDGE)
    return _unreadable("The reply was empty.")


def _unreadable(text: str) -> Observation:
    return Observation(text=text, error=ParseError.__name__)


def _call(action: WrittenAction, name: str, toolkit: Toolkit) -> ToolCall:
    """Return the call under the tool's own name; an unknown one fails when it is called."""
    try:
        name = toolkit.get(name).name
    except ToolNotFound:
        name = name[:_NAME_LIMIT]
    return ToolCall(tool=name, inputs=action.inputs)


def _answered(items: Iterator[Token | ModelCalled]) -> Iterator[AnswerDelta | ModelCalled]:
    """Show a reply as answer, without labels, markers and what the model thought aloud."""
    thinking, reader = ThinkingReader(), ActionReader()
    before: type[Event] | None = None
    for item in items:
        is_last = isinstance(item, ModelCalled)
        pieces = thinking.finish() if isinstance(item, ModelCalled) else _pieces(thinking, item)
        events = [
            event for piece in pieces if not piece.is_thought for event in reader.feed(piece.text)
        ]
        for event in [*events, *(reader.finish() if is_last else ())]:
            if before not in (None, type(event)):
                yield AnswerDelta(text="\n\n")
            before = type(event)
            yield AnswerDelta(text=event.text)
        if isinstance(item, ModelCalled):
            yield item


def _pieces(thinking: ThinkingReader, token: Token) -> list[Piece]:
    return thinking.feed(token.text) if token.kind == "answer" else []
