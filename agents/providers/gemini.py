"""Google's Gemini API: `models/{model}:streamGenerateContent`, as server-sent events.

https://ai.google.dev/api/generate-content and .../gemini-api/docs/thought-signatures.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from agents.contracts import Message, Role
from agents.providers.abilities import Abilities
from agents.providers.base import CHOICES, ModelRequest
from agents.providers.chunks.gemini import SIGNATURE, Response
from agents.providers.dialogue import rules_and_rest, speeches
from agents.providers.discovery import NO_KEY
from agents.providers.wire.abilities import Ask, of_entry
from agents.providers.wire.faults import Faults
from agents.providers.wire.remote import RemoteProvider
from agents.providers.wire.replies import ChunkReader
from agents.providers.wire.schemas import simplified
from agents.providers.wire.server import Send, Sender

UNSIGNED = "skip_thought_signature_validator"
"""The documented signature of a call that the model is told of and did not make in this request."""
_REFUSALS = {
    "responseSchema": re.compile(
        r"response_?schema|specified schema|too many states", re.IGNORECASE
    ),
    "thinkingConfig": re.compile(r"thinking|thought", re.IGNORECASE),
    "responseMimeType": re.compile(r"response_?mime_?type|json mode", re.IGNORECASE),
    "systemInstruction": re.compile(r"system_?instruction|developer instruction", re.IGNORECASE),
}


class GeminiProvider(RemoteProvider):
    """Call one model of Gemini."""

    dialect = "gemini"
    address_hint = " (it ends in /v1beta or /v1)"

    @staticmethod
    def sender(base_url: str, key: str) -> Send:
        """Post with the key as a header; it is never put into the address."""
        return Sender(base_url, GeminiProvider.headers(key))

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return the key as a header, if there is one."""
        return {} if key == NO_KEY else {"x-goog-api-key": key}

    @staticmethod
    def address(base_url: str) -> str:
        """Return the address with a version: v1beta where it names none."""
        return base_url if re.search(r"/v\d\w*$", base_url) else f"{base_url}/v1beta"

    def said_of_model(self, ask: Ask) -> Abilities:
        """Read the entry of the model."""
        return of_entry(ask, f"{self._address}{self._place}")

    def path(self) -> str:
        """Return the path of the model."""
        return f"{self._place}:streamGenerateContent?alt=sse"

    @property
    def _place(self) -> str:
        return "/" + quote(self.model if "/" in self.model else f"models/{self.model}")

    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """Return the parameters, the rules apart, then user and model in turn."""
        rules, rest = rules_and_rest(request.messages)
        settings: dict[str, Any] = {"thinkingConfig": {"includeThoughts": True}}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.max_tokens is not None:
            settings["maxOutputTokens"] = request.max_tokens
        if request.stop:
            settings["stopSequences"] = list(request.stop)
        if request.as_json or request.reply_schema is not None:
            settings["responseMimeType"] = "application/json"
        if request.reply_schema is not None:
            settings["responseSchema"] = _ordered(simplified(request.reply_schema))
        body: dict[str, Any] = {"generationConfig": settings, **_tools(request)}
        if rules:
            body["systemInstruction"] = {"parts": [{"text": rules}]}
        body["contents"] = [
            {"role": "model" if of_model else "user", "parts": parts}
            for of_model, messages in speeches(rest)
            if (parts := [part for message in messages for part in self._parts(message)])
        ]
        return body

    def reply(self, faults: Faults) -> ChunkReader:
        """Return the reader of a response."""
        return Response(faults)

    def refused(self, status: int, said: str, posted: dict[str, Any]) -> str | None:
        """Name what older models and versions do not know: thoughts, JSON mode, instructions."""
        there = posted["generationConfig"].keys() | posted.keys()
        names = [n for n, words in _REFUSALS.items() if n in there and words.search(said)]
        if status == 400 and names:
            return names[0]
        return super().refused(status, said, posted)

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Leave out a setting, or let the rules speak first as the user does."""
        if parameter != "systemInstruction":
            also = {"responseMimeType": "responseSchema", "tools": "toolConfig"}.get(parameter)
            settings = posted["generationConfig"].items()
            left = {k: v for k, v in settings if k not in (parameter, also)}
            others = {k: v for k, v in posted.items() if k not in (parameter, also)}
            return others | {"generationConfig": left}
        if parameter not in posted:
            return posted
        rules, contents = posted[parameter]["parts"], posted["contents"]
        if contents and contents[0]["role"] == "user":
            first, *rest = contents
            contents = [first | {"parts": rules + first["parts"]}, *rest]
        else:
            contents = [{"role": "user", "parts": rules}, *contents]
        return {k: v for k, v in posted.items() if k != parameter} | {"contents": contents}

    def _parts(self, message: Message) -> Iterator[dict[str, Any]]:
        if message.role is Role.TOOL_RESULT and message.call is not None:
            response = {"result": message.content}
            yield {"functionResponse": {"name": message.call.tool, "response": response}}
        elif message.content:
            yield {"text": message.content}
        for image in message.images:
            yield {"inlineData": {"mimeType": image.media_type, "data": image.data}}
        if message.role is Role.TOOL_REQUEST and message.call is not None:
            call = {"name": message.call.tool, "args": message.call.inputs}
            yield {"functionCall": call} | self._signature(message)

    def _signature(self, message: Message) -> dict[str, str]:
        """Sign a call for the generations that demand it; the older ones refuse it."""
        for item in message.kept:
            if SIGNATURE in item:
                return {SIGNATURE: item[SIGNATURE]}
        generation = re.search(r"gemini-(\d+)", self.model)
        signs = generation is not None and int(generation[1]) >= 3
        return {SIGNATURE: UNSIGNED} if signs else {}


def _ordered(schema: dict[str, Any]) -> dict[str, Any]:
    """Say the order of the fields: without it, they come by their names, the answer first."""
    fields = list(schema.get("properties", ()))
    return schema | {"propertyOrdering": fields} if len(fields) > 1 else schema


def _tools(request: ModelRequest) -> dict[str, Any]:
    """Return the tools that may be called, and which of them must be."""
    if not request.tools:
        return {}
    declared = []
    for tool in request.tools:
        inputs = simplified(tool.inputs)
        taken = {"parameters": inputs} if inputs.get("properties") else {}
        declared.append({"name": tool.name, "description": tool.description, **taken})
    tools = {"tools": [{"functionDeclarations": declared}]}
    if request.tool_choice == "auto":
        return tools
    mode: dict[str, Any] = {"mode": "NONE" if request.tool_choice == "none" else "ANY"}
    if request.tool_choice not in CHOICES:
        mode["allowedFunctionNames"] = [request.tool_choice]
    return tools | {"toolConfig": {"functionCallingConfig": mode}}
