"""A reply of Ollama's own dialect."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from agents.providers.wire.faults import Faults
from agents.providers.wire.replies import ChunkReader, Said
from agents.providers.wire.sse import MAX_EVENT, lines


class ChatReply(ChunkReader):
    """A reply, in lines or whole: the last line is the one that is done."""

    STOP_REASONS = {"stop": "stop", "length": "length"}

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self._place = 0

    def frames(self, pieces: Iterable[bytes], start: bytes) -> Iterator[list[str]]:
        """Yield the lines; one that the end of the bytes leaves open counts only if it is whole."""
        ended = False

        def closed() -> Iterator[bytes]:
            nonlocal ended
            yield from pieces
            ended = True
            yield b"\n"

        for some in lines(closed(), MAX_EVENT):
            texts = [line.decode("utf-8", "replace").strip() for line in some]
            yield [text for text in texts if text and (not ended or _is_json(text))]

    def read(self, chunk: dict[str, Any]) -> Said:
        """Read one line."""
        message = chunk.get("message")
        if message is None:
            return []
        self.any = True
        thought = message.get("thinking") or message.get("reasoning_content")
        said = self.said(thought, "reasoning") + self.said(message.get("content"))
        for call in message.get("tool_calls") or ():
            said += self._call(call)
        if chunk.get("done"):
            self.done = True
            self.stopped(chunk.get("done_reason") or "stop")
            self.counted(chunk.get("prompt_eval_count"), chunk.get("eval_count"))
        return said

    def _call(self, call: dict[str, Any]) -> Said:
        """Read a call; each comes whole."""
        self._place += 1
        function = call["function"]
        arguments = function.get("arguments")
        return self.called(self._place, function["name"], arguments, call.get("id"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
