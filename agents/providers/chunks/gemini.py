"""A response of Gemini's dialect: in chunks or whole, both have the same form."""

from collections.abc import Iterator
from typing import Any

from agents.errors import ProviderTruncated
from agents.providers.base import Finish, NativeCall, Token
from agents.providers.chunks.pieced import Pieced
from agents.providers.wire.faults import Faults
from agents.providers.wire.replies import ChunkReader, Said, total

SIGNATURE = "thoughtSignature"
WITHHELD = {
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
}


class Response(ChunkReader):
    """A response, in chunks or whole."""

    STOP_REASONS = {"stop": "stop", "max_tokens": "length"}

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self._pieced: Pieced | None = None
        self._place = 0

    def read(self, chunk: dict[str, Any]) -> Said:
        """Read one chunk: its first candidate, or the reason why there is none."""
        if usage := chunk.get("usageMetadata"):
            names = ("candidatesTokenCount", "thoughtsTokenCount")
            made = total(usage.get(name) for name in names)
            cached, thought = usage.get("cachedContentTokenCount"), usage.get("thoughtsTokenCount")
            self.counted(usage.get("promptTokenCount"), made, cached, thought)
        if blocked := (chunk.get("promptFeedback") or {}).get("blockReason"):
            self.any, self.withheld = True, str(blocked)
            return []
        candidates = chunk.get("candidates")
        if candidates is None and not usage:
            return []
        self.any = True
        if not candidates:
            return []
        if reason := candidates[0].get("finishReason"):
            self.stopped(reason)
            self.withheld = reason if reason in WITHHELD else ""
        parts = (candidates[0].get("content") or {}).get("parts") or []
        return [item for part in parts for item in self._part(part)]

    def _part(self, part: dict[str, Any]) -> Said:
        call = part.get("functionCall")
        said = [] if call is None else self._call(call)
        if (signature := part.get(SIGNATURE)) and call:
            self.kept(signature)
            self.calls.keep({SIGNATURE: signature})
        return said + self.said(part.get("text"), "reasoning" if part.get("thought") else "answer")

    def _call(self, call: dict[str, Any]) -> Said:
        """Read a call, or more of one: it is named once, and its arguments may come by paths."""
        said: Said = []
        if name := call.get("name"):
            self._place += 1
            self._pieced = Pieced()
            said = self.called(self._place, name, call.get("args"), call.get("id"))
        if self._pieced is None:
            return []
        for piece in call.get("partialArgs") or ():
            self._pieced.take(piece)
            self.grow(0, held=self._pieced.size)
        if call.get("willContinue"):
            return said
        whole, self._pieced = self._pieced.value, None
        return said + self.called(self._place, None, whole or None)

    def end(self) -> Iterator[Token | NativeCall | Finish]:
        """Close the reply; raises where a call of which more was promised is not whole."""
        if self._pieced is not None:
            raise ProviderTruncated("The model server ended the reply within a call.")
        return super().end()
