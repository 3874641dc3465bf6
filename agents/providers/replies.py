"""A chat completion as the server sends it, streamed or in one piece, read into tokens."""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from agents.contracts import Usage
from agents.errors import ProviderGarbled, ProviderSilent, ProviderTruncated
from agents.providers.base import Finish, Token
from agents.providers.faults import Faults
from agents.providers.sse import MAX_EVENT, events

MAX_REPLY = 1_000_000
"""The characters that one reply may have; a model that says more does not stop by itself."""
UNFIT = re.compile("[\x00\ud800-\udfff]")
MAX_COUNT = 2**31 - 1
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""White space and the bytes of a byte order mark, which some servers begin with."""

Kind = Literal["answer", "reasoning"]


def read_reply(
    pieces: Iterable[bytes], faults: Faults, ending: Callable[[], None] = lambda: None
) -> Iterator[Token | Finish]:
    """Yield the tokens of the reply in `pieces`, then its Finish.

    A server that ignores `stream` and answers one JSON object is read too. `ending` is called when
    all the text has come. Raises what `faults` makes of an error object, ProviderGarbled for what
    is no chat completion and ProviderTruncated for one without an end; what `pieces` raises before
    the end is raised.
    """
    iterator = iter(pieces)
    start = b""
    for piece in iterator:
        start = (start + piece).lstrip(BLANKS)
        if start:
            break
    whole = itertools.chain((start,), iterator)
    if start[:1] == b"{":
        return _from_object(whole, faults)
    if start[:1] == b"<":
        raise faults.of_nonsense("<")
    return _from_stream(whole, faults, ending)


def _from_stream(
    pieces: Iterable[bytes], faults: Faults, ending: Callable[[], None]
) -> Iterator[Token | Finish]:
    reply = _Reply(faults)
    try:
        for data in events(pieces):
            if data == "[DONE]":
                reply.done = True
                break
            yield from reply.take(data)
            if reply.stop_reason is not None:
                ending()
    except (ProviderTruncated, ProviderSilent):
        # All that was still to come was the count of tokens.
        if reply.stop_reason is None:
            raise
    yield from reply.end()


def _from_object(pieces: Iterable[bytes], faults: Faults) -> Iterator[Token | Finish]:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_EVENT:
            raise ProviderGarbled(f"The model server's answer is longer than {MAX_EVENT:,} bytes.")
    reply = _Reply(faults)
    yield from reply.take(body.decode("utf-8", "replace"))
    yield from reply.end()


class _Reply:
    """The state of one reply between its chunks."""

    def __init__(self, faults: Faults) -> None:
        self.stop_reason: str | None = None
        self.done = False
        self._faults = faults
        self._usage = Usage()
        self._size = 0
        self._held: dict[Kind, str] = {}
        self._any = False

    def take(self, data: str) -> list[Token]:
        """Read one chunk; a whole completion is a chunk whose message is the delta."""
        try:
            return self._read(json.loads(data))
        except (ValueError, RecursionError, AttributeError, LookupError, TypeError) as error:
            raise self._faults.of_nonsense(data) from error

    def end(self) -> Iterator[Token | Finish]:
        """Close the reply: yield its Finish, or raise if the server did not say that it ended."""
        if not self._any:
            raise self._faults.of_nonsense("")
        if self.stop_reason is None and not (self.done and self._size):
            raise ProviderTruncated("The model server ended the reply before it was complete.")
        for kind in self._held:
            yield Token(text="\ufffd", kind=kind)
        yield Finish(stop_reason=self.stop_reason or "", usage=self._usage)

    def _read(self, chunk: dict[str, Any]) -> list[Token]:
        if chunk.get("error"):
            raise self._faults.of_error(chunk["error"])
        if chunk.get("object") == "error":
            raise self._faults.of_error(chunk)
        if usage := chunk.get("usage"):
            self._usage = Usage(
                input_tokens=_count(usage.get("prompt_tokens")),
                output_tokens=_count(usage.get("completion_tokens")),
            )
        choices = chunk.get("choices")
        if choices is None and not usage:
            raise KeyError("choices")
        self._any = True
        if not choices:
            return []
        choice = choices[0]
        if reason := choice.get("finish_reason"):
            self.stop_reason = UNFIT.sub("\ufffd", str(reason))[:40]
        delta = choice.get("delta") or choice.get("message")
        return self._tokens(delta) if delta else []

    def _tokens(self, delta: dict[str, Any]) -> list[Token]:
        tokens = []
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning:
            tokens.append(self._token(reasoning, "reasoning"))
        if content := delta.get("content") or delta.get("refusal"):
            tokens.append(self._token(content, "answer"))
        return [token for token in tokens if token.text]

    def _token(self, text: str, kind: Kind) -> Token:
        if not isinstance(text, str):
            raise TypeError(kind)
        if self._held or UNFIT.search(text):
            text = self._fit(text, kind)
        self._size += len(text)
        if self._size > MAX_REPLY:
            raise ProviderGarbled(
                f"The model's reply is longer than {MAX_REPLY:,} characters; it does not stop."
            )
        return Token(text=text, kind=kind)

    def _fit(self, text: str, kind: Kind) -> str:
        """Join a character that was cut between two chunks, and replace what no text can hold."""
        text = self._held.pop(kind, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held[kind] = text[-1]
            text = text[:-1]
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text.replace("\x00", "\ufffd")


def _count(tokens: Any) -> int | None:
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MAX_COUNT else None
