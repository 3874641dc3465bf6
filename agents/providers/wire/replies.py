"""A reply as the server sends it, streamed or in one piece, read into tokens."""

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from agents.contracts import Usage
from agents.errors import (
    ProviderEndless,
    ProviderError,
    ProviderGarbled,
    ProviderSilent,
    ProviderTruncated,
)
from agents.providers.base import UNFIT, CallDelta, Finish, NativeCall, Token
from agents.providers.wire.faults import Faults
from agents.providers.wire.native_calls import NativeCalls
from agents.providers.wire.sse import MAX_EVENT, events

MAX_REPLY = 1_000_000
"""The characters that one reply may have; a model that says more does not stop by itself."""
ENTRY = 64
"""The characters that a call, a thought or a detail counts for, beside what it says."""
MAX_COUNT = 2**31 - 1
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""White space and the bytes of a byte order mark, which some servers begin with."""

Kind = Literal["answer", "reasoning"]

Said = list[Token | CallDelta]
"""What one chunk says."""


class ChunkReader(ABC):
    """The state of one reply between its chunks; each dialect reads its own chunks.

    `stop_reason` is None until the server says why it stopped; `withheld` is its word for a reply
    that it does not give. `any` is set by a chunk that a reply of the dialect can have; others are
    passed over. `calls` are the native calls so far.
    """

    STOP_REASONS: Mapping[str, str] = {}
    """The server's words, in lower case, for what has a name here: stop, length, tool_calls.

    A reply that stops for any other reason is taken for cut.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.stop_reason: str | None = None
        self.withheld = ""
        self.done = False
        self.any = False
        self.usage = Usage()
        self.calls = NativeCalls()
        self._odd = ""
        self._size = 0
        self._held: dict[Kind, str] = {}

    @abstractmethod
    def read(self, chunk: dict[str, Any]) -> Said:
        """Read one chunk; a whole reply is a chunk too."""

    def frames(self, pieces: Iterable[bytes], start: bytes) -> Iterator[list[str]]:
        """Cut the bytes into chunks: events, or one object where `stream` was ignored.

        The chunks that a piece completes come together.
        """
        return iter(([_whole(pieces)],)) if start == b"{" else events(pieces)

    def read_text(self, data: str) -> Said:
        """Read one chunk as it came; raises ProviderError for an error and for what is none."""
        if data == "[DONE]":
            self.done = True
            return []
        try:
            chunk = json.loads(data)
            if error := chunk.get("error"):
                raise self.faults.of_error(error)
            said = self.read(chunk)
        except (ValueError, RecursionError, AttributeError, LookupError, TypeError) as error:
            raise self.faults.of_nonsense(data) from error
        if not self.any:
            self._odd = self._odd or data
        return said

    def end(self) -> Iterator[Token | NativeCall | Finish]:
        """Close the reply: yield its calls and its Finish, or raise where it is not complete."""
        if not self.any:
            raise self.faults.of_nonsense(self._odd)
        if self.withheld:
            raise self.faults.of_refusal(self.withheld)
        if self.stop_reason is None and not (self.done and self._size):
            raise ProviderTruncated("The model server ended the reply before it was complete.")
        if self.stop_reason == "tool_calls" and not self.calls:
            raise ProviderTruncated("The model server says that a tool is called, but not which.")
        for kind in self._held:
            yield Token(text="\ufffd", kind=kind)
        yield from self.calls.whole(self.wanted_back())
        yield Finish(stop_reason=self.stop_reason or "", usage=self.usage)

    def wanted_back(self) -> list[dict[str, Any]]:
        """Return what the server wants back of the reply with its calls, as it gave it."""
        return []

    @property
    def has_said(self) -> bool:
        """Tell whether anything of the reply has come."""
        return self._size > 0

    def stopped(self, reason: object) -> None:
        """Take the server's word for why it stopped."""
        word = UNFIT.sub("\ufffd", str(reason))[:40]
        self.stop_reason = self.STOP_REASONS.get(word.lower(), word)

    def counted(
        self,
        input_tokens: Any = None,
        output_tokens: Any = None,
        cached_tokens: Any = None,
        reasoning_tokens: Any = None,
    ) -> None:
        """Take what the server counted; what it does not say now stays as it was."""
        before = self.usage
        self.usage = Usage(
            input_tokens=_first(_count(input_tokens), before.input_tokens),
            output_tokens=_first(_count(output_tokens), before.output_tokens),
            cached_tokens=_first(_count(cached_tokens), before.cached_tokens),
            reasoning_tokens=_first(_count(reasoning_tokens), before.reasoning_tokens),
        )

    def said(self, text: Any, kind: Kind = "answer") -> Said:
        """Return the token of a piece of text, none for an empty one."""
        if not text:
            return []
        if not isinstance(text, str):
            raise TypeError(kind)
        if self._held or UNFIT.search(text):
            text = self._fit(text, kind)
        self.grow(len(text))
        return [Token(text=text, kind=kind)] if text else []

    def called(
        self, place: object = None, name: object = None, arguments: Any = None, call_id: Any = None
    ) -> Said:
        """Take a piece of a call that the model makes in its server's own way."""
        before = len(self.calls)
        delta = self.calls.take(place, name, arguments, call_id)
        if len(self.calls) > before:
            self.grow(ENTRY + len(str(call_id or "")))
        if delta is None:
            return []
        self.grow(len(delta.name + delta.text))
        return [delta]

    def kept(self, item: Any) -> None:
        """Count what is kept to be sent back, as JSON; it may be no longer than a reply either."""
        self.grow(ENTRY + len(json.dumps(item, ensure_ascii=False)))

    def grow(self, size: int, *, held: int = 0) -> None:
        """Count so many characters more; `held` are others that are counted when they are whole.

        Raises ProviderEndless beyond MAX_REPLY.
        """
        self._size += size
        if self._size + held > MAX_REPLY:
            raise ProviderEndless(
                f"The model's reply is longer than {MAX_REPLY:,} characters; it does not stop."
            )

    def _fit(self, text: str, kind: Kind) -> str:
        """Join a character that was cut between two chunks, and replace what no text can hold."""
        text = self._held.pop(kind, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held[kind] = text[-1]
            text = text[:-1]
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text.replace("\x00", "\ufffd")


def read_reply(
    pieces: Iterable[bytes], reply: ChunkReader, ending: Callable[[], None] = lambda: None
) -> Iterator[Token | CallDelta | NativeCall | Finish]:
    """Yield the tokens of the reply in `pieces`, then its calls and its Finish.

    `ending` is called when all the text has come. Raises ProviderRefused or ProviderBusy for an
    error that the server reports, ProviderGarbled for what is no reply and ProviderTruncated for
    one without an end; what `pieces` raises before the end is raised.
    """
    iterator = iter(pieces)
    start = _start(iterator)
    if start[:1] == b"<":
        raise reply.faults.of_nonsense("<")
    try:
        for chunks in reply.frames(itertools.chain((start,), iterator), start[:1]):
            yield from _tokens(chunks, reply)
            if reply.done:
                break
            if reply.stop_reason is not None:
                ending()
    except (ProviderTruncated, ProviderSilent):
        # All that was still to come was the count of tokens.
        if reply.stop_reason is None:
            raise
    yield from reply.end()


def _tokens(chunks: Iterable[str], reply: ChunkReader) -> Iterator[Token | CallDelta]:
    """Yield what chunks say that came together; text of one kind in a row is one token.

    What comes before a chunk that is an error or nonsense is yielded before that is raised.
    """
    said: Said = []
    failure: ProviderError | None = None
    for data in chunks:
        try:
            said += reply.read_text(data)
        except ProviderError as error:
            failure = error
        if failure is not None or reply.done:
            break
    for kind, some in itertools.groupby(said, lambda item: item.kind):
        if kind == "call":
            yield from some
        else:
            yield Token(text="".join(token.text for token in some), kind=kind)
    if failure is not None:
        raise failure


def total(counts: Iterable[Any]) -> int | None:
    """Return the sum of what the server counted in parts, None where it counted nothing."""
    known = [count for count in map(_count, counts) if count is not None]
    return sum(known) if known else None


def _start(pieces: Iterator[bytes]) -> bytes:
    """Take the first bytes that are not blank."""
    start = b""
    for piece in pieces:
        start = (start + piece).lstrip(BLANKS)
        if start:
            break
    return start


def _whole(pieces: Iterable[bytes]) -> str:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MAX_EVENT:
            raise ProviderGarbled(f"The model server's answer is longer than {MAX_EVENT:,} bytes.")
    return body.decode("utf-8", "replace")


def _count(tokens: Any) -> int | None:
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MAX_COUNT else None


def _first(new: int | None, old: int | None) -> int | None:
    return old if new is None else new
