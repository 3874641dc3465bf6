"""Ollama's own API: /api/chat, a line of JSON for each piece of the reply.

https://docs.ollama.com/api/chat. Ollama speaks OpenAI's dialect too; this one tells thoughts apart
for every thinking model, and counts tokens always.
"""

import re
from typing import Any

from agents.contracts import Message, Role
from agents.providers.abilities import Abilities
from agents.providers.base import ModelRequest
from agents.providers.chunks.ollama import ChatReply
from agents.providers.discovery import NO_KEY
from agents.providers.openai import function_of
from agents.providers.wire.abilities import Ask, of_show
from agents.providers.wire.faults import Faults
from agents.providers.wire.remote import RemoteProvider
from agents.providers.wire.replies import ChunkReader
from agents.providers.wire.server import Send, Sender

FORMAT_SCHEMA = "format schema"
"""What versions before 0.5 refuse, which know a format by its name alone."""
_FORMAT = re.compile(r"\bformat\b|grammar|schema", re.IGNORECASE)


class OllamaProvider(RemoteProvider):
    """Call one model of an Ollama server."""

    dialect = "ollama"

    @staticmethod
    def sender(base_url: str, key: str) -> Send:
        """Post with the key as a bearer token; a server of one's own asks for none."""
        return Sender(base_url, OllamaProvider.headers(key))

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return the key as a bearer token; nothing for a server that asks for none."""
        return {} if key == NO_KEY else {"Authorization": f"Bearer {key}"}

    @staticmethod
    def address(base_url: str) -> str:
        """Return the address, also from one that is given as for the other dialect."""
        return base_url.removesuffix("/v1").removesuffix("/api")

    def said_of_model(self, ask: Ask) -> Abilities:
        """Have the server show the model."""
        return of_show(ask, self._address, self.model)

    def path(self) -> str:
        """Return the path of chats."""
        return "/api/chat"

    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """Return the options that were asked for, then the messages."""
        options = self._options(request)
        body: dict[str, Any] = {"model": self.model, "stream": True}
        if options:
            body["options"] = options
        if request.reply_schema is not None:
            body["format"] = request.reply_schema
        elif request.as_json:
            body["format"] = "json"
        if request.tools and request.tool_choice != "none":
            body["tools"] = [function_of(tool) for tool in request.tools]
        body["messages"] = [_message(message) for message in request.messages]
        return body

    def _options(self, request: ModelRequest) -> dict[str, Any]:
        """Return what was asked for; the context is named, lest Ollama cut a request to its own."""
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens,
            "stop": list(request.stop) or None,
            "num_ctx": self.abilities.context_length,
        }
        return {name: value for name, value in options.items() if value is not None}

    def reply(self, faults: Faults) -> ChunkReader:
        """Return the reader of a chat's reply."""
        return ChatReply(faults)

    def refused(self, status: int, said: str, posted: dict[str, Any]) -> str | None:
        """Name the format: a schema first, then any."""
        if status in (400, 422, 500) and "format" in posted and _FORMAT.search(said):
            return FORMAT_SCHEMA if isinstance(posted["format"], dict) else "format"
        return super().refused(status, said, posted)

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Leave a parameter out, or ask for JSON of any form."""
        if parameter == FORMAT_SCHEMA:
            is_schema = isinstance(posted.get("format"), dict)
            return posted | ({"format": "json"} if is_schema else {})
        return super().without(posted, parameter)


def _message(message: Message) -> dict[str, Any]:
    role = {Role.TOOL_REQUEST: "assistant", Role.TOOL_RESULT: "tool"}.get(
        message.role, message.role.value
    )
    body: dict[str, Any] = {"role": role, "content": message.content}
    if message.images:
        body["images"] = [image.data for image in message.images]
    if message.call is not None and message.role is Role.TOOL_RESULT:
        body["tool_name"] = message.call.tool
    elif message.call is not None:
        function = {"name": message.call.tool, "arguments": message.call.inputs}
        body["tool_calls"] = [{"function": function}]
    return body
