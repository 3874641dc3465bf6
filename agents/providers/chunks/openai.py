"""A chat completion of OpenAI's dialect, read as leniently as its many servers write it."""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.providers.chunks.details import Details
from agents.providers.wire.faults import MAX_WORDS, Faults
from agents.providers.wire.replies import ChunkReader, Said, total

_LEGACY = "function_call"
"""The place of the one call of the protocol before there were several."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""The fields that thoughts come in; a server that fills two says the same in both."""


class Completion(ChunkReader):
    """A chat completion, in chunks or whole."""

    STOP_REASONS = {
        "stop": "stop",
        "end": "stop",
        "end_turn": "stop",
        "eos": "stop",
        "eos_token": "stop",
        "stop_sequence": "stop",
        "complete": "stop",
        "completed": "stop",
        "length": "length",
        "max_tokens": "length",
        "model_length": "length",
        "tool_calls": "tool_calls",
        "tool_call": "tool_calls",
        "tool_use": "tool_calls",
        "function_call": "tool_calls",
    }
    """OpenAI's words, and those by which its other servers say the same."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self._choice: object = None
        self._aloud: list[str] = []
        self._details = Details()

    def read(self, chunk: dict[str, Any]) -> Said:
        """Read one chunk; a whole completion is a chunk whose message is the delta."""
        if chunk.get("object") == "error":
            raise self.faults.of_error(chunk)
        usage = chunk.get("usage")
        if not usage and "x_groq" in chunk:
            usage = (chunk["x_groq"] or {}).get("usage")
        if usage:
            self._count(usage)
        choices = chunk.get("choices")
        if choices is None:
            self.any = self.any or bool(usage)
            return []
        self.any = True
        return self._read(choices[0]) if choices else []

    def _read(self, choice: dict[str, Any]) -> Said:
        index = choice.get("index")
        if index != self._choice and not self._is_ours(index):
            return []
        delta, reason = choice.get("delta"), choice.get("finish_reason")
        if delta and not reason:
            return self._delta(delta)
        if error := choice.get("error"):
            raise self.faults.of_error(error)
        if usage := choice.get("usage"):
            self._count(usage)
        if not delta and not self.has_said:
            delta = choice.get("message")
        said = self._delta(delta) if delta else []
        if reason:
            self.stopped(reason)
            if reason == "content_filter":
                self.withheld = self.withheld or reason
        return said

    def _is_ours(self, index: object) -> bool:
        """Tell the first choice from others that nobody asked for."""
        if self._choice is None:
            self._choice = index
        return index is None or index == self._choice

    def _delta(self, delta: dict[str, Any]) -> Said:
        content = delta.get("content")
        said = self.said(content) if isinstance(content, str) else self._parts(content or ())
        return said if said and len(delta) == 1 else self._rest(delta, said)

    def _rest(self, delta: dict[str, Any], said: Said) -> Said:
        """Read what few deltas have besides what is said: thoughts, a refusal, calls."""
        thought = next((delta[name] for name in _THOUGHTS if delta.get(name)), None)
        if thought:
            self._aloud.append(thought)
            said = self.said(thought, "reasoning") + said
        if details := delta.get("reasoning_details"):
            said += self._detailed(details, thought or "")
        if refusal := delta.get("refusal"):
            self._refuse(refusal)
        for call in delta.get("tool_calls") or ():
            said += self._call(call)
        if call := delta.get(_LEGACY):
            said += self.called(_LEGACY, call.get("name"), call.get("arguments"))
        return said

    def _call(self, call: dict[str, Any]) -> Said:
        function = call.get("function") or call
        said = self.called(
            call.get("index"), function.get("name"), function.get("arguments"), call.get("id")
        )
        if extra := call.get("extra_content"):  # Gemini's signature, at its OpenAI address
            self.kept(extra)
            self.calls.keep({"extra_content": extra})
        return said

    def _parts(self, parts: Any) -> Said:
        """Read content in parts: text, thoughts of which each may have parts, a refusal."""
        said: Said = []
        for part in parts:
            match part.get("type"):
                case "text" | "output_text":
                    said += self.said(part.get("text"))
                case "thinking" | "reasoning":
                    thought = part.get("thinking") or part.get("text") or ()
                    texts = [thought] if isinstance(thought, str) else _texts(thought)
                    for text in texts:
                        said += self.said(text, "reasoning")
                case "refusal":
                    self._refuse(part.get("refusal"))
        return said

    def _detailed(self, details: list[dict[str, Any]], thought: str) -> Said:
        """Keep thoughts in detail; they are said here only where `thought` does not say them."""
        said: Said = []
        kept, counted = 0, len(thought)
        for detail in details:
            kept += self._details.take(detail)
            if not thought:
                text = detail.get("text") or detail.get("summary") or ""
                said += self.said(text, "reasoning")
                counted += len(text)
        self.grow(max(0, kept - counted))
        return said

    def wanted_back(self) -> list[dict[str, Any]]:
        """Return the model's thoughts, which some servers ask for behind the results of calls."""
        if self._details:
            return [{"reasoning_details": self._details.whole}]
        return [{"reasoning_content": "".join(self._aloud)}] if self._aloud else []

    def _refuse(self, text: Any) -> None:
        if text:
            self.grow(len(text))
            if len(self.withheld) < MAX_WORDS:
                self.withheld += text

    def _count(self, usage: dict[str, Any]) -> None:
        """Count thoughts as output, which xAI counts beside it: its total says so."""
        given, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
        cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
        thought = _detail(usage, "completion_tokens_details", "reasoning_tokens")
        beside = total((given, made, thought))
        if thought and made is not None and beside == usage.get("total_tokens"):
            made = total((made, thought))
        if cached is None:
            cached = usage.get("prompt_cache_hit_tokens")  # DeepSeek's
        self.counted(given, made, cached, thought)


def _detail(usage: Mapping[str, Any], details: str, name: str) -> Any:
    found = usage.get(details)
    return found.get(name) if isinstance(found, Mapping) else None


def _texts(parts: Any) -> Iterator[Any]:
    return (part.get("text") for part in parts)
