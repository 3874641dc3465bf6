"""Ask for one step in text, and make a thought of whatever the model wrote."""

from collections.abc import Callable, Generator, Sequence

from agents.contracts import Message, ModelCall, Purpose, Thought, ThoughtKind, ToolCall
from agents.errors import ToolError, ToolNotFound
from agents.events import Event
from agents.history.form import is_unread
from agents.model.model import Model
from agents.reading.action import WrittenAction
from agents.reading.markup.complaint import BROKEN
from agents.reading.markup.conclusion import Reading
from agents.reading.markup.form import FormReader
from agents.reading.markup.inputs import inputs_of
from agents.reading.markup.reader import MarkedReader
from agents.reading.text_reply import ReplyReader
from agents.state import State
from agents.tools.toolkit import Toolkit

STOP = ("\nObservation:",)
DROPPED = "dropped_call"
"""The key, in the plan of a final thought, that says that a call in the answer was left out."""

_NAME_LIMIT = 100


def read_step(
    model: Model,
    toolkit: Toolkit,
    make: Callable[[], FormReader],
    messages: Sequence[Message],
    *,
    purpose: Purpose,
) -> Generator[Event, None, tuple[Reading, ModelCall]]:
    """Yield what a reply of one step shows; return it and the call.

    Whether a model's replies begin within a thought is learnt from its first one that is complete.
    """
    provider = model.asked(purpose).provider
    habit = provider.thinks_first
    reader = MarkedReader(make, toolkit.knows, thinks_first=habit)
    stop = () if habit else STOP
    call = yield from model.read(reader, messages, purpose=purpose, stop=stop)
    if reader.thought_first and not habit:
        provider.learn_thinking(True)
    elif habit is None and not call.is_cut and call.stop_reason != "enough" and call.reply.strip():
        provider.learn_thinking(False)
    return reader.reading, call


def read_otherwise(reply: str, toolkit: Toolkit, *, thinks_first: bool | None = None) -> Reading:
    """Return what a complete reply comes to that is not of the form that was asked for."""
    reader = MarkedReader(ReplyReader, toolkit.knows, thinks_first=thinks_first)
    for _ in (*reader.feed(reply), *reader.finish()):
        pass
    return reader.reading


def calls_of(actions: Sequence[WrittenAction], toolkit: Toolkit) -> tuple[ToolCall, ...]:
    """Return the calls under the tools' own names; what cannot be read fails when it is called."""
    return tuple(_call(action, toolkit) for action in actions)


def has_unread_inputs(actions: Sequence[WrittenAction], toolkit: Toolkit) -> bool:
    """Tell whether an action has a text for inputs that its tool cannot take as one."""
    for action in actions:
        try:
            if isinstance(action.inputs, str):
                inputs_of(toolkit.get(action.tool or ""), action.inputs)
        except ToolError:
            return True
    return False


def unread(reading: Reading) -> Thought:
    """Return the thought of a reply whose action could not be read, which a complaint answers."""
    text = f"{reading.thought}{BROKEN}{reading.broken}".lstrip()
    return Thought(kind=ThoughtKind.THOUGHT, text=text)


def is_asked_again(state: State) -> bool:
    """Tell whether the turn before was a reply without a step, of which the model was told."""
    return len(state.turns) > 1 and is_unread(state.turns[-2])


def _call(action: WrittenAction, toolkit: Toolkit) -> ToolCall:
    name, given = action.tool or "", action.inputs
    try:
        tool = toolkit.get(name)
        inputs = inputs_of(tool, given) if isinstance(given, str) else given
        return ToolCall(tool=tool.name, inputs=inputs)
    except ToolError as error:
        if not isinstance(error, ToolNotFound):
            name = toolkit.get(name).name
        inputs = {"input": given} if isinstance(given, str) else given
        return ToolCall(tool=name[:_NAME_LIMIT], inputs=inputs)
