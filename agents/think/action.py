"""Think aloud, and then write one action as JSON, or the final answer between markers."""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agents.contracts import Message, Observation, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ErrorKind, ParseError, ToolNotFound
from agents.events import AnswerDelta, Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import json_scratchpad
from agents.reading.action import WrittenAction, read_action
from agents.reading.action_reply import ActionReader, ActionReply
from agents.reading.thinking import Piece, ThinkingReader
from agents.state import State
from agents.text import CUT_SHORT
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
        messages = self._messages(state)
        reply, is_cut = yield from read_step(self.model, messages, purpose=Purpose.THINK)
        node = concluded(reply, self.toolkit, cut=is_cut)
        if node is None and self._refuses(reply.thought, state):
            node = Thought(kind=ThoughtKind.THOUGHT, text=reply.thought)
        if node is None:
            node = yield from self._final(state, reply.thought)
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
        reader = _AnswerReader()
        call = yield from model.read(reader, messages, purpose=Purpose.FINAL)
        answer = reader.answer
        if not answer and thought:
            answer.append(thought)
            yield AnswerDelta(text=thought)
        elif call.is_cut and answer:
            answer.append(CUT_SHORT)
            yield AnswerDelta(text=CUT_SHORT)
        if not answer:
            return Thought(kind=ThoughtKind.THOUGHT, text="")
        return Thought(kind=ThoughtKind.FINAL, text=thought, answer="".join(answer))


def question_and_work(state: State) -> str:
    """Write the question verbatim and the steps so far, up to where the model goes on."""
    return f"Question:\n{enclosed('question', state.goal)}\n{json_scratchpad(state)}"


def read_step(
    model: Model, messages: Sequence[Message], *, purpose: Purpose
) -> Generator[Event, None, tuple[ActionReply, bool]]:
    """Yield what a reply of one step shows; return it, and whether it was cut short."""
    reader = ActionReader()
    call = yield from model.read(reader, messages, purpose=purpose, stop=STOP)
    if call.is_cut and reader.reply.answer:
        yield AnswerDelta(text=CUT_SHORT)
    return reader.reply, call.is_cut


def concluded(reply: ActionReply, toolkit: Toolkit, *, cut: bool) -> Thought | None:
    """Return what a reply comes to, None for neither an action nor an answer.

    What was meant for an action and cannot be read is a thought, which `complaint` answers.
    """
    if reply.answer:
        answer = reply.answer + (CUT_SHORT if cut else "")
        return Thought(kind=ThoughtKind.FINAL, text=reply.thought, answer=answer)
    if reply.actions:
        calls = tuple(_call(action, toolkit) for action in reply.actions)
        return Thought(kind=ThoughtKind.ACTION, text=reply.thought, calls=calls)
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
    return Observation(text=text, error=ErrorKind.PARSE_ERROR)


def _call(action: WrittenAction, toolkit: Toolkit) -> ToolCall:
    """Return the call under the tool's own name; an unknown one fails when it is called."""
    name = action.tool or ""
    try:
        name = toolkit.get(name).name
    except ToolNotFound:
        name = name[:_NAME_LIMIT]
    return ToolCall(tool=name, inputs=action.inputs)


class _AnswerReader:
    """Show a reply as answer, without labels, markers and what the model thought aloud."""

    done = False

    def __init__(self) -> None:
        self.answer: list[str] = []
        self._thinking, self._reader = ThinkingReader(), ActionReader()
        self._before: type[Event] | None = None

    def think_aloud(self, text: str) -> Iterator[Event]:
        """Show nothing of it."""
        return iter(())

    def feed(self, chunk: str) -> Iterator[Event]:
        """Take more of the reply; yield what it shows."""
        yield from self._shown(self._thinking.feed(chunk))

    def finish(self, *, is_cut: bool) -> Iterator[Event]:
        """Take the reply as complete; yield what was held back."""
        yield from self._shown(self._thinking.finish())
        yield from self._as_answer(self._reader.finish())

    def _shown(self, pieces: Iterable[Piece]) -> Iterator[Event]:
        for piece in pieces:
            if not piece.is_thought:
                yield from self._as_answer(self._reader.feed(piece.text))

    def _as_answer(self, events: Iterable[ThoughtDelta | AnswerDelta]) -> Iterator[AnswerDelta]:
        for event in events:
            parted = self._before not in (None, type(event))
            self._before = type(event)
            for text in ("\n\n", event.text) if parted else (event.text,):
                self.answer.append(text)
                yield AnswerDelta(text=text)
