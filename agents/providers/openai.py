"""Any model server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, ...

https://platform.openai.com/docs/api-reference/chat. The SDK gives its client; the body
is posted as it is and the stream is read here, for the SDK would walk the whole history each time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from agents.contracts import Image, Message, Role
from agents.providers.abilities import Abilities
from agents.providers.base import CHOICES, REPLY, TOOLS, ModelRequest, ToolSchema, encoded
from agents.providers.chunks.openai import Completion
from agents.providers.wire.abilities import Ask, of_list
from agents.providers.wire.faults import Faults, said_in
from agents.providers.wire.remote import RemoteProvider
from agents.providers.wire.replies import ChunkReader
from agents.providers.wire.server import Send
from agents.providers.wire.strict import strict_reply, strictly

REPEATED_ROLES = "repeated roles"
"""What DeepSeek-R1 and some chat templates refuse: two messages of one speaker in a row."""
JSON_SCHEMA = "json_schema"
"""The form of a reply that more servers know as `json_object`, without the schema."""
STRICT = "strict"
"""What lets the model write no call but such as the tool's schema has."""
STRICT_REPLY = "strict_reply"
"""What lets the model write no reply but such as the schema has; not every schema can be so."""
FORMAT = "response_format"
_SCHEMA = re.compile(r"response_format|json_schema|grammar|schema", re.IGNORECASE)
_NOT_STRICT = re.compile(r"\bstrict\b|invalid schema|additionalProperties", re.IGNORECASE)
_NO_FORMAT = re.compile(
    r"response_format\W{0,3}(?: is| are|:)? (?:not|un\w+|extra)"
    r"|(?:not support|un\w+|no)[^.]{0,30}\bresponse_format\b",
    re.IGNORECASE,
)
_KINDS = re.compile(r"json_schema|json_object|response_format\.|\btype\b")
_ALTERNATE = re.compile(r"successive user or assistant messages|roles must alternate")


class OpenAIProvider(RemoteProvider):
    """Call one model of an OpenAI-compatible server."""

    dialect = "openai"
    address_hint = " (most end in /v1)"

    @staticmethod
    def sender(base_url: str, key: str) -> Send:
        """Return the SDK's client; it takes a second to import, and only this dialect needs it."""
        from agents.providers.wire.sdk import SdkSender

        return SdkSender(base_url, key)

    def said_of_model(self, ask: Ask) -> Abilities:
        """Read the server's list of models, and llama.cpp's words of itself."""
        return of_list(ask, self._address, self.model)

    def path(self) -> str:
        """Return the path of chat completions."""
        return "/chat/completions"

    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """Return the parameters that were asked for, then the messages."""
        body: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body["max_tokens"] = request.max_tokens
        if request.stop:
            body["stop"] = list(request.stop)
        body |= self._form(request)
        if request.tools:
            body["tools"] = [_strict_function_of(tool) for tool in request.tools]
        if request.tools and request.tool_choice != "auto":
            body["tool_choice"] = _choice(request.tool_choice)
        body["messages"] = list(_messages(request.messages))
        return body

    def _form(self, request: ModelRequest) -> dict[str, Any]:
        """Return what asks for JSON, in the best way that the server has not refused."""
        schema = request.reply_schema
        if schema is not None and not self.refuses(JSON_SCHEMA) and not self.refuses(FORMAT):
            strict = strict_reply(schema)
            named = {"schema": schema} if strict is None else {"schema": strict, STRICT: True}
            return {FORMAT: {"type": JSON_SCHEMA, JSON_SCHEMA: {"name": "reply", **named}}}
        if (schema is not None or request.as_json) and not self.refuses(FORMAT):
            return {FORMAT: {"type": "json_object"}}
        if schema is not None and not request.tools and not self.refuses(TOOLS):
            return _forced(strict_reply(schema) or schema)
        return {}

    def reply(self, faults: Faults) -> ChunkReader:
        """Return the reader of a chat completion."""
        return Completion(faults)

    def refused(self, status: int, said: str, posted: dict[str, Any]) -> str | None:
        """Name what servers differ in: stream_options, json_object, stop, speakers in turn."""
        return refused_parameter(status, said, posted) or super().refused(status, said, posted)

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Leave a parameter out, or give it the name that newer models know it by."""
        if parameter == "max_tokens":
            return {("max_completion_tokens" if k == parameter else k): posted[k] for k in posted}
        if parameter == REPEATED_ROLES:
            return posted | {"messages": _merged(posted["messages"])}
        if parameter == JSON_SCHEMA:
            is_one = posted.get("response_format", {}).get("type") == JSON_SCHEMA
            return posted | ({"response_format": {"type": "json_object"}} if is_one else {})
        if parameter == STRICT_REPLY:
            return posted | _form_without_strict(posted)
        if parameter == FORMAT and TOOLS not in posted and not self.refuses(TOOLS):
            schema = posted.get(FORMAT, {}).get(JSON_SCHEMA, {}).get("schema")
            others = {name: value for name, value in posted.items() if name != FORMAT}
            messages = {"messages": others.pop("messages")}
            return others | ({} if schema is None else _forced(schema)) | messages
        if parameter == STRICT:
            return posted | (
                {"tools": _without_strict(posted["tools"])} if "tools" in posted else {}
            )
        also = {"tools": "tool_choice", "stream": "stream_options"}.get(parameter)
        return {name: value for name, value in posted.items() if name not in (parameter, also)}


def refused_parameter(status: int, body: str, posted: dict[str, Any]) -> str | None:
    """Name the parameter that the server cannot take and the request can do without.

    None when the refusal is about anything else. Servers differ in what they know of the protocol:
    LM Studio knows no json_object, older ones no stream_options, reasoning models no stop.
    """
    if status not in (400, 422):
        return None
    said = said_in(body)
    if (named := _named(body, posted)) is not None:
        return named
    for name in ("stop", "stream"):
        if posted.get(name) and (
            re.search(rf"""["'`]{name}["'`]""", said) or re.search(rf'"param"\s*:\s*"{name}"', body)
        ):
            return name
    if "max_tokens" in posted and re.search(r"\bmax_completion_tokens\b.*instead", said):
        return "max_tokens"
    if _ALTERNATE.search(said) and len(_merged(posted["messages"])) < len(posted["messages"]):
        return REPEATED_ROLES
    return None


def _named(body: str, posted: dict[str, Any]) -> str | None:
    """Return what a refusal names that is named for nothing else."""
    form = posted.get(FORMAT, {})
    if form.get("type") == JSON_SCHEMA and _SCHEMA.search(body):
        if STRICT in form[JSON_SCHEMA] and _NOT_STRICT.search(body):
            return STRICT_REPLY
        return FORMAT if _NO_FORMAT.search(body) and not _KINDS.search(body) else JSON_SCHEMA
    is_strict = any(STRICT in tool["function"] for tool in posted.get("tools", ()))
    if is_strict and re.search(rf"\b{STRICT}\b", body):
        return STRICT
    names = ("stream_options", "response_format", "tool_choice")
    return next((n for n in names if n in posted and re.search(rf"\b{n}\b", body)), None)


def function_of(tool: ToolSchema) -> dict[str, Any]:
    """Return a tool as OpenAI's dialect and Ollama's declare it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.inputs}
    return {"type": "function", "function": function}


def _strict_function_of(tool: ToolSchema) -> dict[str, Any]:
    declared = function_of(tool)
    if tool.strict and (inputs := strictly(tool.inputs)) is not None:
        declared["function"] |= {"parameters": inputs, "strict": True}
    return declared


def _forced(schema: dict[str, Any]) -> dict[str, Any]:
    """Ask for a reply by the one tool that takes it."""
    function = {"name": REPLY, "description": "Give the whole reply.", "parameters": schema}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": _choice(REPLY)}


def _form_without_strict(posted: dict[str, Any]) -> dict[str, Any]:
    named = posted.get(FORMAT, {}).get(JSON_SCHEMA)
    if named is None:
        return {}
    left = {name: value for name, value in named.items() if name != STRICT}
    return {FORMAT: {"type": JSON_SCHEMA, JSON_SCHEMA: left}}


def _without_strict(tools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    left = [{n: part for n, part in tool["function"].items() if n != STRICT} for tool in tools]
    return [{"type": "function", "function": function} for function in left]


def _choice(choice: str) -> str | dict[str, Any]:
    return choice if choice in CHOICES else {"type": "function", "function": {"name": choice}}


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Translate; calls made together are one message, and what they show follows as the user's."""
    for role, some in groupby(messages, lambda message: message.role):
        if role is Role.TOOL_REQUEST:
            yield _requests(list(some))
        elif role is Role.TOOL_RESULT:
            yield from _results(list(some))
        else:
            for message in some:
                yield {"role": role, "content": _content(message.content, message.images)}


def _requests(messages: list[Message]) -> dict[str, Any]:
    calls = [
        {
            "id": message.call_id,
            "type": "function",
            "function": {"name": message.call.tool, "arguments": encoded(message.call.inputs)},
            **_kept(message, ("extra_content",)),
        }
        for message in messages
        if message.call is not None
    ]
    said = "\n".join(message.content for message in messages if message.content)
    kept = _kept(messages[0], ("reasoning_details", "reasoning_content"))
    return {"role": "assistant", "content": said or None, **kept, "tool_calls": calls}


def _kept(message: Message, names: Sequence[str]) -> dict[str, Any]:
    """Return of what a server wants back what is known by these names."""
    return {name: item[name] for item in message.kept for name in names if name in item}


def _results(messages: list[Message]) -> Iterator[dict[str, Any]]:
    for message in messages:
        yield {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    images = [image for message in messages for image in message.images]
    if images:
        yield {"role": "user", "content": _content("", images)}


def _content(text: str, images: Sequence[Image]) -> str | list[dict[str, Any]]:
    if not images:
        return text
    return ([{"type": "text", "text": text}] if text else []) + [
        {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}
        for image in images
    ]


def _merged(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join what the user, or the assistant, says in a row; calls and their results stay apart."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is not None and _may_join(last) and last["role"] == message["role"]:
            merged[-1] = last | {"content": _joined(last["content"], message["content"])}
        else:
            merged.append(message)
    return merged


def _may_join(message: dict[str, Any]) -> bool:
    return message["role"] in ("system", "user", "assistant") and "tool_calls" not in message


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return _parts(one) + _parts(other)


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
