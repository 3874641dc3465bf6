"""A message of Anthropic's dialect, in events or whole."""

import json
from collections.abc import Mapping
from typing import Any

from agents.errors import ProviderTruncated
from agents.providers.base import REPLY
from agents.providers.wire.faults import Faults
from agents.providers.wire.replies import ENTRY, ChunkReader, Said, total

THOUGHTS = ("thinking", "redacted_thinking")


class MessageReply(ChunkReader):
    """A message, in events or whole."""

    STOP_REASONS = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
    }

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self._thoughts: dict[int, dict[str, Any]] = {}
        self._called: set[int] = set()
        self._replying: set[int] = set()

    def read(self, chunk: dict[str, Any]) -> Said:
        """Read one event; those that a later version adds are passed over."""
        match chunk.get("type"):
            case "message_start":
                self._begin(chunk["message"])
            case "content_block_start":
                return self._block(chunk["index"], chunk["content_block"])
            case "content_block_delta":
                return self._delta(chunk["index"], chunk["delta"])
            case "message_delta":
                self._count(chunk.get("usage"))
                self._stop(chunk["delta"])
            case "message_stop":
                self.done = True
            case "message":
                self.any = True
                self._count(chunk.get("usage"))
                self._stop(chunk)
                return [t for i, b in enumerate(chunk["content"]) for t in self._block(i, b)]
        return []

    def wanted_back(self) -> list[dict[str, Any]]:
        """Return the thoughts with their signatures: without them no result of a call is taken."""
        signed = (thought for thought in self._thoughts.values() if len(thought) > 1)
        return [{n: _whole(part) for n, part in thought.items()} for thought in signed]

    def _begin(self, message: Mapping[str, Any]) -> None:
        if self.has_said:
            raise ProviderTruncated("The model server began its reply anew within it.")
        self.any = True
        self._count(message.get("usage"))

    def _block(self, index: int, block: dict[str, Any]) -> Said:
        match block["type"]:
            case "text":
                return self.said(block.get("text"))
            case "thinking":
                self._thoughts[index] = {"type": "thinking", "thinking": [], "signature": []}
                self.grow(ENTRY)
                self._sign(index, block.get("signature"))
                return self._thought(index, block.get("thinking"))
            case "redacted_thinking":
                self.kept(block)
                self._thoughts[index] = dict(block)
            case "tool_use" if block["name"] == REPLY:
                self._replying.add(index)
                given = block.get("input")
                return self.said(json.dumps(given, ensure_ascii=False) if given else "")
            case "tool_use":
                self._called.add(index)
                return self.called(
                    index, block["name"], block.get("input") or None, block.get("id")
                )
        return []

    def _delta(self, index: int, delta: dict[str, Any]) -> Said:
        match delta["type"]:
            case "text_delta":
                return self.said(delta["text"])
            case "thinking_delta":
                return self._thought(index, delta["thinking"])
            case "signature_delta":
                self._sign(index, delta["signature"])
            case "input_json_delta" if index in self._replying:
                return self.said(delta["partial_json"])
            case "input_json_delta" if index in self._called:
                return self.called(index, None, delta["partial_json"])
        return []

    def _thought(self, index: int, text: Any) -> Said:
        self._keep(index, "thinking", text)
        return self.said(text, "reasoning")

    def _sign(self, index: int, signature: Any) -> None:
        self.grow(len(signature or ""))
        self._keep(index, "signature", signature)

    def _keep(self, index: int, part: str, text: Any) -> None:
        if text and isinstance(kept := self._thoughts.get(index, {}).get(part), list):
            kept.append(text)

    def _stop(self, delta: dict[str, Any]) -> None:
        if reason := delta.get("stop_reason"):
            self.stopped("end_turn" if self._replying and not self._called else reason)
            self.withheld = reason if reason == "refusal" else ""

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Count what was read from and written to the cache as input, too."""
        if usage:
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            given = total(usage.get(name) for name in names)
            cached = usage.get("cache_read_input_tokens")
            self.counted(given, usage.get("output_tokens"), cached)


def _whole(part: Any) -> Any:
    return "".join(part) if isinstance(part, list) else part
