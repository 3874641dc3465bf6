"""Think by native calls: the tools go with the request, and calls come back beside the text."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from agents.contracts import ModelCall, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ToolError, ToolsRefused
from agents.events import AnswerDelta, Event, ModelCalled, ThoughtCompleted, ThoughtDelta
from agents.history.native import NO_TOOLS, MadeCall, Telling, has_no_tools
from agents.history.native import offered_name as offered
from agents.model.model import Model
from agents.policy import Think
from agents.prompting.prompts import render
from agents.providers.base import TOOLS, NativeCall, Token, ToolSchema
from agents.reading.markup.answer_reply import AnswerReader
from agents.reading.markup.conclusion import Reading, cleaned
from agents.reading.markup.marks import begins_call
from agents.reading.native_reply import NativeReader
from agents.state import State
from agents.text import CUT_SHORT, clipped, storable
from agents.think.reply import DROPPED, calls_of, read_otherwise
from agents.tools.toolkit import Toolkit

_NAME_LIMIT = 100
_ECHO = 2_000
_BEFORE_CALLS = "\n\n"


@dataclass(frozen=True)
class NativeThink:
    """Ask for the next calls or the answer; `otherwise` thinks where the server takes no tools.

    `choice` is the first request's `tool_choice`; the later ones leave it to the model. `strict`
    asks the server to keep to the tools' schemas, and a model that `sees` is shown pictures.
    """

    model: Model
    toolkit: Toolkit
    otherwise: Think
    choice: str = "auto"
    strict: bool = True
    sees: bool = False
    tell: Telling = field(default_factory=Telling)

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the thought and the answer as they come, then what they add up to."""
        if has_no_tools(state):
            yield from self.otherwise(state)
            return
        if not self.toolkit.tools:
            yield from self._all_answer(state)
            return
        habit = self.model.asked(Purpose.THINK).provider.thinks_first
        reader = NativeReader(may_be_thought=bool(habit))
        try:
            call, made = yield from self._asked(reader, state)
        except ToolsRefused:
            yield from _without_tools()
            return
        if made:
            yield ThoughtCompleted(node=self._action(reader, made, call, state))
            return
        node = self._concluded(reader, call, state)
        if node.answer.startswith(reader.shown) and node.answer != reader.shown:
            yield AnswerDelta(text=node.answer.removeprefix(reader.shown))
        yield ThoughtCompleted(node=node)

    def _all_answer(self, state: State) -> Iterator[Event]:
        """Ask where there is nothing to call: the reply is the answer; without one, a thought."""
        reader = AnswerReader(
            lambda text: AnswerDelta(text=text),
            lambda text: ThoughtDelta(text=text),
            thinks_first=self.model.asked(Purpose.THINK).provider.thinks_first,
        )
        messages = self.tell(render("native/rules", has_tools=False), state, sees=self.sees)
        call = yield from self.model.read(reader, messages, purpose=Purpose.THINK)
        answer = reader.said.text
        if not answer:
            text = reader.thought.text or storable(call.reply).strip()
            yield ThoughtCompleted(node=Thought(kind=ThoughtKind.THOUGHT, text=text))
            return
        if call.is_cut:
            answer += CUT_SHORT
            yield AnswerDelta(text=CUT_SHORT)
        dropped = {DROPPED: True} if reader.has_call else None
        thought = reader.thought.text
        node = Thought(kind=ThoughtKind.FINAL, text=thought, answer=answer, plan=dropped)
        yield ThoughtCompleted(node=node)

    def _concluded(self, reader: NativeReader, call: ModelCall, state: State) -> Thought:
        """Return what a reply without calls beside it comes to: calls in it, an answer, nothing."""
        habit = self.model.asked(Purpose.THINK).provider.thinks_first
        reading = read_otherwise(reader.written, self.toolkit, thinks_first=habit)
        calls = calls_of(reading.actions, self.toolkit)
        is_known = bool(calls) and all(self.toolkit.knows(one.tool) for one in calls)
        if is_known and not call.is_cut:
            return _written(calls, reader, reading, state)
        answer = reading.answer or reading.prose
        is_meant = is_known or bool(reading.error) or begins_call(reader.said)
        if not (answer or is_meant or reader.begins_step):
            answer = cleaned(reader.said)
        if not answer:
            text = _joined(reader) or storable(call.reply).strip()
            return Thought(kind=ThoughtKind.THOUGHT, text=text)
        text = _thought(reader, reading) if reading.answer else reader.thought or reading.aloud
        answer += CUT_SHORT if call.is_cut else ""
        return Thought(kind=ThoughtKind.FINAL, text=text, answer=answer)

    def _asked(
        self, reader: NativeReader, state: State
    ) -> Generator[Event, None, tuple[ModelCall, list[NativeCall]]]:
        """Yield what the reply shows, and the record of the call; return that and its calls."""
        made: list[NativeCall] = []
        is_shown = False
        schemas = self._schemas()
        if self.model.asked(Purpose.THINK).provider.refuses(TOOLS):
            raise ToolsRefused(NO_TOOLS)
        is_first = not any(turn.actions for turn in state.turns)
        asked = self.tell(render("native/rules", has_tools=True), state, sees=self.sees)
        items = self.model.stream(
            asked,
            purpose=Purpose.THINK,
            tools=schemas,
            tool_choice=offered(self.choice) if is_first else "auto",
            is_shown=lambda: is_shown,
        )
        for item in items:
            match item:
                case Token(text=text, kind=kind):
                    for event in reader.take(text, is_thought=kind == "reasoning"):
                        is_shown = True
                        yield event
                case NativeCall():
                    made.append(item)
                case ModelCalled(call=call):
                    if not item.passed_to:
                        yield from reader.finish()
                    yield item
        return call, made

    def _schemas(self) -> list[ToolSchema]:
        return [
            ToolSchema(
                name=offered(tool.name),
                description=tool.description,
                inputs=tool.schema,
                strict=self.strict,
            )
            for tool in self.toolkit.tools
        ]

    def _action(
        self, reader: NativeReader, made: Sequence[NativeCall], call: ModelCall, state: State
    ) -> Thought:
        taken = _taken(state)
        calls, kept = list[ToolCall](), list[MadeCall]()
        for native in made:
            tool_call, fault = self._read(native, call)
            said = reader.said if not kept else ""
            known = _new_id(native.id, taken, len(state.turns))
            taken.add(known)
            calls.append(tool_call)
            kept.append(MadeCall(id=known, kept=native.kept, said=said, fault=fault))
        return Thought(
            kind=ThoughtKind.ACTION,
            text=_joined(reader),
            calls=tuple(calls),
            kept=tuple(one.model_dump(mode="json", exclude_defaults=True) for one in kept),
        )

    def _read(self, native: NativeCall, call: ModelCall) -> tuple[ToolCall, str]:
        """Return the call, and why it cannot be carried out: what was meant is never guessed."""
        name = self._name(native.name)
        if (whole := native.call) is not None:
            return ToolCall(tool=name, inputs=whole.inputs), ""
        unread = ToolCall(tool=name, inputs={"input": clipped(native.arguments, _ECHO)})
        if not native.name:
            return unread, "The call names no tool."
        if call.is_cut:
            return unread, "The reply was cut off within this call. Make it again, shorter."
        try:
            tool = self.toolkit.get(name)
            inputs = self.toolkit.inputs_from_text(tool, native.arguments)
        except ToolError as error:
            return unread, str(error)
        if native.arguments.lstrip()[:1] in "{[":
            return unread, "The arguments of this call are not one whole JSON object."
        return ToolCall(tool=name, inputs=inputs), ""

    def _name(self, name: str) -> str:
        known = {offered(tool.name): tool.name for tool in self.toolkit.tools}
        if name in known:
            return known[name]
        try:
            return self.toolkit.get(name).name
        except ToolError:
            return name[:_NAME_LIMIT] or "?"


def _written(
    calls: tuple[ToolCall, ...], reader: NativeReader, reading: Reading, state: State
) -> Thought:
    """Return calls that were written as text, as if they had been made beside it."""
    taken, said, kept = _taken(state), _spoken(reading), list[MadeCall]()
    for number in range(len(calls)):
        known = _new_id(f"call_{number + 1}", taken, len(state.turns))
        taken.add(known)
        kept.append(MadeCall(id=known, said="" if kept else said))
    return Thought(
        kind=ThoughtKind.ACTION,
        text=_thought(reader, reading),
        calls=calls,
        kept=tuple(one.model_dump(mode="json", exclude_defaults=True) for one in kept),
    )


def _without_tools() -> Iterator[Event]:
    yield ThoughtDelta(text=NO_TOOLS)
    yield ThoughtCompleted(node=Thought(kind=ThoughtKind.THOUGHT, text=NO_TOOLS))


def _joined(reader: NativeReader) -> str:
    return _BEFORE_CALLS.join(filter(None, (reader.thought, reader.said)))


def _spoken(reading: Reading) -> str:
    """Return what was said before the step, without what was thought apart."""
    return reading.thought.removeprefix(reading.aloud).strip()


def _thought(reader: NativeReader, reading: Reading) -> str:
    thoughts = (reader.thought or reading.aloud, _spoken(reading))
    return _BEFORE_CALLS.join(filter(None, thoughts))


def _taken(state: State) -> set[str]:
    """Return the ids of the calls that the run has made."""
    return {made["id"] for turn in state.turns if turn.thought for made in turn.thought.kept}


def _new_id(given: str, taken: set[str], turn: int) -> str:
    """Return an id that no other call of the run has."""
    if given not in taken:
        return given
    numbered = (f"{given}_{turn}_{n}" for n in range(len(taken) + 1))
    return next(one for one in numbered if one not in taken)
