"""The dialects as bytes, for a server that speaks them rightly or wrongly."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import pytest

from agents.contracts import Usage
from agents.providers.vendors import RemoteName

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def part(content: bytes) -> bytes:
    """Frame bytes as one chunk of a stream."""
    return b"%x\r\n%s\r\n" % (len(content), content)


class Speaker(ABC):
    """The bytes of one dialect, for a server that speaks it."""

    name: RemoteName
    key_header: str
    """The header that carries the key, in lower case, with what stands before it."""
    usage = Usage(input_tokens=7, output_tokens=3)
    """What it counts for a reply that begins and stops."""

    @abstractmethod
    def begins(self) -> bytes: ...

    @abstractmethod
    def says(self, text: str) -> bytes: ...

    @abstractmethod
    def thinks(self, text: str) -> bytes: ...

    @abstractmethod
    def stops(self, reason: str = "stop") -> bytes:
        """Say why it stops, with 7 tokens taken and 3 given."""

    @abstractmethod
    def fails(self, words: str) -> bytes:
        """Report in the stream that the server is overloaded."""

    def sends(self, chunk: object) -> bytes:
        text = chunk if isinstance(chunk, str) else json.dumps(chunk)
        return part(f"data: {text}\n\n".encode())

    def ends(self) -> bytes:
        return self.stops() + b"0\r\n\r\n"


class OpenAISpeaker(Speaker):
    name = "openai"
    key_header = "authorization: bearer "

    def begins(self) -> bytes:
        return STREAM

    def says(self, text: str) -> bytes:
        return self.sends({"choices": [{"index": 0, "delta": {"content": text}}]})

    def thinks(self, text: str) -> bytes:
        return self.sends({"choices": [{"delta": {"reasoning_content": text}}]})

    def stops(self, reason: str = "stop") -> bytes:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return self.sends({"choices": [{"delta": {}, "finish_reason": reason}], "usage": usage})

    def fails(self, words: str) -> bytes:
        return self.sends({"error": {"message": words, "code": 503}})


class AnthropicSpeaker(Speaker):
    name = "anthropic"
    key_header = "x-api-key: "
    usage = Usage(input_tokens=7, output_tokens=3, cached_tokens=5)

    def begins(self) -> bytes:
        usage = {"input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 1}
        start = {"type": "message_start", "message": {"content": [], "usage": usage}}
        return STREAM + self.sends(start) + self.sends({"type": "ping"})

    def sends(self, chunk: object) -> bytes:
        kind = chunk["type"] if isinstance(chunk, dict) else "content_block_delta"
        text = chunk if isinstance(chunk, str) else json.dumps(chunk)
        return part(f"event: {kind}\ndata: {text}\n\n".encode())

    def says(self, text: str) -> bytes:
        return self._delta({"type": "text_delta", "text": text})

    def thinks(self, text: str) -> bytes:
        return self._delta({"type": "thinking_delta", "thinking": text})

    def stops(self, reason: str = "end_turn") -> bytes:
        delta = {"stop_reason": reason, "stop_sequence": None}
        end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}}
        return self.sends(end) + self.sends({"type": "message_stop"})

    def fails(self, words: str) -> bytes:
        error = {"type": "overloaded_error", "message": words}
        return self.sends({"type": "error", "error": error})

    def _delta(self, delta: dict[str, str]) -> bytes:
        return self.sends({"type": "content_block_delta", "index": 0, "delta": delta})


class GeminiSpeaker(Speaker):
    name = "gemini"
    key_header = "x-goog-api-key: "
    usage = Usage(input_tokens=7, output_tokens=3, reasoning_tokens=1)

    def begins(self) -> bytes:
        return STREAM

    def says(self, text: str) -> bytes:
        return self._part({"text": text})

    def thinks(self, text: str) -> bytes:
        return self._part({"text": text, "thought": True})

    def stops(self, reason: str = "STOP") -> bytes:
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
        candidate = {"content": {"role": "model"}, "finishReason": reason}
        return self.sends({"candidates": [candidate], "usageMetadata": usage})

    def fails(self, words: str) -> bytes:
        return self.sends({"error": {"code": 503, "message": words, "status": "UNAVAILABLE"}})

    def _part(self, part: dict[str, Any]) -> bytes:
        return self.sends({"candidates": [{"content": {"parts": [part], "role": "model"}}]})


class OllamaSpeaker(Speaker):
    name = "ollama"
    key_header = "authorization: bearer "

    def begins(self) -> bytes:
        return STREAM.replace(b"text/event-stream", b"application/x-ndjson")

    def sends(self, chunk: object) -> bytes:
        return part((chunk if isinstance(chunk, str) else json.dumps(chunk)).encode() + b"\n")

    def says(self, text: str) -> bytes:
        return self._message({"role": "assistant", "content": text})

    def thinks(self, text: str) -> bytes:
        return self._message({"role": "assistant", "content": "", "thinking": text})

    def stops(self, reason: str = "stop") -> bytes:
        counts = {"prompt_eval_count": 7, "eval_count": 3}
        last = {"message": {"content": ""}, "done": True, "done_reason": reason}
        return self.sends(last | counts)

    def fails(self, words: str) -> bytes:
        return self.sends({"error": {"message": words, "code": 503}})

    def _message(self, message: dict[str, str]) -> bytes:
        return self.sends({"model": "m", "message": message, "done": False})


SPEAKERS: list[type[Speaker]] = [OpenAISpeaker, AnthropicSpeaker, GeminiSpeaker, OllamaSpeaker]


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.name)
def speaker(request: pytest.FixtureRequest) -> Speaker:
    made: Speaker = request.param()
    return made


@pytest.fixture
def speaker_of() -> Callable[[RemoteName], Speaker]:
    return lambda name: next(speaker() for speaker in SPEAKERS if speaker.name == name)
