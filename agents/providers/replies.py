"""A chat completion as the server sends it, streamed or in one piece, read into tokens."""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from agents.contracts import Usage
from agents.errors import ProviderError, ProviderGarbled, ProviderSilent, ProviderTruncated
from agents.providers.base import Finish, Token
from agents.providers.sse import MAX_EVENT, events

MAX_REPLY = 1_000_000
"""The characters that one reply may have; a model that says more does not stop by itself."""
UNFIT = re.compile("[\x00\ud800-\udfff]")
MAX_COUNT = 2**31 - 1
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""White space and the bytes of a byte order mark, which some servers begin with."""

Kind = Literal["answer", "reasoning"]
Fault = Callable[[Any], ProviderError]


def read_reply(
    pieces: Iterable[bytes], fault: Fault, ending: Callable[[], None] = lambda: None
) -> Iterator[Token | Finish]:
    """Yield the tokens of the reply in `pieces`, then its Finish.

    A server that ignores `stream` and answers one JSON object is read too. `fault` makes the error
    of an error object; `ending` is called when all the text has come. Raises ProviderGarbled for
    what is no chat completion and ProviderTruncated for one without an end; what `pieces` raises
    before the end is raised.
    """
    iterator = iter(pieces)
    start = b""
    for piece in iterator:
        start = (start + piece).lstrip(BLANKS)
        if start:
            break
    whole = itertools.chain((start,), iterator)
    if start[:1] == b"{":
        return _from_object(whole, fault)
    if start[:1] == b"<":
        raise ProviderGarbled(
            "The address answers with an HTML page, so it is no model server. Check "
            "OPENAI_BASE_URL (most end in /v1)."
        )
    return _from_stream(whole, fault, ending)


def _from_stream(
    pieces: Iterable[bytes], fault: Fault, ending: Callable[[], None]
) -> Iterator[Token | Finish]:
    reply = _Reply(fault)
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


def _from_object(pieces: Iterable[bytes], fault: Fault) -> Iterator[Token | Finish]:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_EVENT:
            raise ProviderGarbled(f"The model server's answer is longer than {MAX_EVENT:,} bytes.")
    reply = _Reply(fault)
    yield from reply.take(body.decode("utf-8", "replace"))
    yield from reply.end()


class _Reply:
    """The state of one reply between its chunks."""

    def __init__(self, fault: Fault) -> None:
        self.stop_reason: str | None = None
        self.done = False
        self._fault = fault
        self._usage = Usage()
        self._size = 0
        self._held: dict[Kind, str] = {}
        self._any = False

    def take(self, data: str) -> list[Token]:
        """Read one chunk; a whole completion is a chunk whose message is the delta."""
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ProviderGarbled(
                f"The model server sent what is no JSON: {data[:80]!r}"
            ) from error
        try:
            return self._read(chunk)
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise ProviderGarbled(
                f"The model server sent what is no chat completion: {data[:80]!r}"
            ) from error

    def end(self) -> Iterator[Token | Finish]:
        """Close the reply: yield its Finish, or raise if the server did not say that it ended."""
        if not self._any:
            raise ProviderGarbled("The model server's answer holds no chat completion.")
        if self.stop_reason is None and not (self.done and self._size):
            raise ProviderTruncated("The model server ended the reply before it was complete.")
        for kind in self._held:
            yield Token(text="\ufffd", kind=kind)
        yield Finish(stop_reason=self.stop_reason or "", usage=self._usage)

    def _read(self, chunk: dict[str, Any]) -> list[Token]:
        if chunk.get("error"):
            raise self._fault(chunk["error"])
        if chunk.get("object") == "error":
            raise self._fault(chunk)
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
            self.stop_reason = str(reason)[:40]
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
