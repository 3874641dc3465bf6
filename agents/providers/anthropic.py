"""Anthropic's Messages API: Claude, and the servers that speak like it.

https://platform.claude.com/docs/en/api/messages and .../build-with-claude/streaming.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from agents.contracts import Image, Message, Role
from agents.providers.base import CHOICES, REPLY, ModelRequest
from agents.providers.chunks.anthropic import THOUGHTS, MessageReply
from agents.providers.dialogue import rules_and_rest, speeches
from agents.providers.discovery import NO_KEY
from agents.providers.wire.faults import Faults
from agents.providers.wire.remote import RemoteProvider
from agents.providers.wire.replies import ChunkReader
from agents.providers.wire.server import Send, Sender

CACHE = "cache_control"
"""What marks the end of a beginning that the server keeps for the next request."""
_KEPT = {"type": "ephemeral"}
VERSION = "2023-06-01"
MAX_TOKENS = 16_000
"""The tokens of a reply, thinking among them, when nobody sets a limit: this API demands one."""


class AnthropicProvider(RemoteProvider):
    """Call one model of Anthropic."""

    dialect = "anthropic"

    @staticmethod
    def sender(base_url: str, key: str) -> Send:
        """Post with the version that is spoken here, and the key if there is one."""
        headers = {"anthropic-version": VERSION} | ({} if key == NO_KEY else {"x-api-key": key})
        return Sender(base_url, headers)

    @staticmethod
    def address(base_url: str) -> str:
        """Return the address without the version, with which some write it."""
        return base_url.removesuffix("/v1")

    def path(self) -> str:
        """Return the path of messages."""
        return "/v1/messages"

    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """Return the parameters, the rules apart, then user and assistant in turn.

        There is no parameter for a JSON reply without a schema: the prompt asks for it. One with a
        schema is a tool that must be called.
        """
        rules, rest = rules_and_rest(request.messages)
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "stream": True,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop_sequences"] = list(request.stop)
        body |= _tools(request, rest)
        if rules:
            body["system"] = [{"type": "text", "text": rules} | {CACHE: _KEPT}]
        body["messages"] = _with_breakpoint(
            [
                {"role": "assistant" if of_model else "user", "content": blocks}
                for of_model, messages in speeches(rest)
                if (blocks := [block for message in messages for block in _blocks(message)])
            ]
        )
        return body

    def refused(self, status: int, said: str, posted: dict[str, Any]) -> str | None:
        """Name the marks of the cache and the choice of a tool, which not every server takes."""
        is_faulty = status in (400, 422)
        if is_faulty and CACHE in said and CACHE in json.dumps(posted):
            return CACHE
        found = super().refused(status, said, posted)
        is_choice = is_faulty and "tool_choice" in posted and "tool_choice" in said
        return "tool_choice" if found is None and is_choice else found

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Leave a parameter out, or the marks of the cache wherever they stand."""
        if parameter != CACHE:
            return super().without(posted, parameter)
        left: dict[str, Any] = _unmarked(posted)
        if isinstance(left.get("system"), list):
            left["system"] = "".join(block["text"] for block in left["system"])
        return left

    def reply(self, faults: Faults) -> ChunkReader:
        """Return the reader of a message."""
        return MessageReply(faults)


def _with_breakpoint(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark where what stays ends: before the question, or where calls grow, at the last result.

    The rules, and the tools before them, have a mark of their own.
    """
    ends = messages[:-1] if messages and _is_text(messages[-1]) else messages
    block = ends[-1]["content"][-1] if ends else None
    if block is not None and block["type"] not in THOUGHTS:
        ends[-1]["content"][-1] = block | {CACHE: _KEPT}
    return messages


def _is_text(message: dict[str, Any]) -> bool:
    return all(block["type"] != "tool_result" for block in message["content"])


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(part) for name, part in value.items() if name != CACHE}
    return [_unmarked(part) for part in value] if isinstance(value, list) else value


def _tools(request: ModelRequest, messages: Sequence[Message]) -> dict[str, Any]:
    """Return the tools that may be called, or are told of, and which of them must be."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.inputs}
        for tool in request.tools
    ]
    choice: dict[str, Any] = {"type": {"required": "any"}.get(request.tool_choice, "none")}
    if request.tool_choice == "auto":
        choice = {} if tools else choice
    elif request.tool_choice not in CHOICES:
        choice = {"type": "tool", "name": request.tool_choice}
    if request.reply_schema is not None:
        choice = {"type": "any"} if tools else {"type": "tool", "name": REPLY}
        tools.append({"name": REPLY, "input_schema": request.reply_schema})
    # A request that tells of calls must declare their tools, though none may be made now.
    offered = {tool["name"] for tool in tools}
    names = dict.fromkeys(m.call.tool for m in messages if m.call is not None)
    tools += [{"name": n, "input_schema": {"type": "object"}} for n in names if n not in offered]
    chosen = {"tool_choice": choice} if choice else {}
    return {"tools": tools, **chosen} if tools else {}


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message's blocks; blank text is left out, for it is refused."""
    if message.role is Role.TOOL_RESULT:
        content = [*_text(message.content), *_images(message.images)]
        yield {"type": "tool_result", "tool_use_id": message.call_id, "content": content}
        return
    yield from (item for item in message.kept if item.get("type") in THOUGHTS)
    yield from _images(message.images)
    yield from _text(message.content)
    if message.call is not None:
        call = message.call
        yield {"type": "tool_use", "id": message.call_id, "name": call.tool, "input": call.inputs}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _images(images: Sequence[Image]) -> Iterator[dict[str, Any]]:
    for image in images:
        source = {"type": "base64", "media_type": image.media_type, "data": image.data}
        yield {"type": "image", "source": source}
