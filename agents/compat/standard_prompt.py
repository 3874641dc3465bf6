"""The standard prompt: a conversation as plain JSON, checked strictly and read into messages.

Roles are system, user, assistant, tool_request, tool_result and tool (another name of tool_result).
An assistant's or a request's `tool_calls` are OpenAI's, with their arguments as JSON text.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Self

from pydantic import StrictStr, TypeAdapter, ValidationError, model_validator

from agents.contracts import Message, Role, ToolCall, Value
from agents.errors import ConfigurationError

Content = StrictStr | dict[str, Any] | None


class StandardFunction(Value):
    """The function of a call: its name, and its arguments as JSON text."""

    name: StrictStr
    arguments: StrictStr


class StandardCall(Value):
    """A call that the model asked for."""

    id: StrictStr
    type: Literal["function"] = "function"
    function: StandardFunction


class StandardMessage(Value):
    """One message of a standard prompt."""

    role: Literal["system", "user", "assistant", "tool_request", "tool_result", "tool"]
    content: Content
    name: StrictStr | None = None
    tool_calls: tuple[StandardCall, ...] | None = None
    tool_call_id: StrictStr | None = None

    @model_validator(mode="after")
    def _fits_its_role(self) -> Self:
        if self.role in ("system", "user") and not isinstance(self.content, str):
            raise ValueError(f"the content of a {self.role} message must be text")
        if self.role in ("tool", "tool_result") and not self.tool_call_id:
            raise ValueError(f"a {self.role} message must name its tool_call_id")
        if self.tool_calls and self.role not in ("assistant", "tool_request"):
            raise ValueError(f"a {self.role} message cannot have tool_calls")
        return self


_PROMPT: TypeAdapter[list[StandardMessage]] = TypeAdapter(list[StandardMessage])


def check_prompt(value: object) -> list[StandardMessage]:
    """Return a standard prompt; raises ConfigurationError naming each wrong message and field."""
    try:
        return _PROMPT.validate_python(value)
    except ValidationError as error:
        wrong = "; ".join(_complaints(error))
        raise ConfigurationError(f"This is no standard prompt: {wrong}.") from error


def read_prompt(value: object) -> list[Message]:
    """Return the messages of a standard prompt, each call and each result as one of its own.

    Raises ConfigurationError, also for a result whose call was never asked for.
    """
    calls: dict[str, ToolCall] = {}
    return [message for given in check_prompt(value) for message in _messages(given, calls)]


def _messages(given: StandardMessage, calls: dict[str, ToolCall]) -> Iterator[Message]:
    text = _text(given.content)
    if given.role in ("tool", "tool_result"):
        call_id = given.tool_call_id or ""
        if call_id not in calls:
            raise ConfigurationError(f"The result {call_id!r} is of a call that nobody asked for.")
        yield Message(role=Role.TOOL_RESULT, content=text, call=calls[call_id], call_id=call_id)
    elif given.tool_calls:
        for number, asked in enumerate(given.tool_calls):
            calls[asked.id] = ToolCall(tool=asked.function.name, inputs=_inputs(asked))
            yield Message(
                role=Role.TOOL_REQUEST,
                content="" if number else text,
                call=calls[asked.id],
                call_id=asked.id,
            )
    else:
        role = Role.ASSISTANT if given.role == "tool_request" else Role(given.role)
        yield Message(role=role, content=text)


def _text(content: Content) -> str:
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content or ""


def _inputs(call: StandardCall) -> dict[str, Any]:
    """Return the arguments of a call; those that are no JSON object stay as text."""
    try:
        found = json.loads(call.function.arguments)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"input": call.function.arguments}


def _complaints(error: ValidationError) -> Iterator[str]:
    for wrong in error.errors(include_url=False, include_input=False):
        yield f"{_place(wrong['loc'])}{wrong['msg'].removeprefix('Value error, ')}"


def _place(location: Iterable[int | str]) -> str:
    parts = list(location)
    if not parts:
        return ""
    first, *rest = parts
    number = first + 1 if isinstance(first, int) else first
    return f"message {number}: " + (f"{'.'.join(map(str, rest))}: " if rest else "")
