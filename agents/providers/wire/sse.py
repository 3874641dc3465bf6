"""Server-sent events, read from bytes as they come.

The event stream format of the WHATWG HTML standard (9.2.6), as far as model servers use it: the
data of each event; names, ids and comments are passed over. An event is bounded, and those
of a piece come at once; the decoders of httpx-sse and the openai SDK know neither.
"""

from collections.abc import Iterable, Iterator

from agents.errors import ProviderGarbled

MAX_EVENT = 4_000_000
"""The bytes that one event may have; more is no reply of a model."""


def events(pieces: Iterable[bytes], *, limit: int = MAX_EVENT) -> Iterator[list[str]]:
    """Yield the data of the events that each piece completes, however the bytes are cut.

    An event that the end of the bytes leaves open is yielded, but for an unfinished line. Raises
    ProviderGarbled for an event of more than `limit` bytes.
    """
    begun = _Event()
    for some in lines(pieces, limit):
        if complete := [data for line in some if (data := begun.feed(line)) is not None]:
            yield complete
        if begun.size > limit:
            raise _too_long(limit)
    if begun.data:
        yield [begun.end()]


class _Event:
    """An event whose end has not come: the data of its lines, and how many bytes they have."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.size = 0

    def feed(self, line: bytes) -> str | None:
        """Take a line, and return the data of the event if it is the one that ends it."""
        if line[:5] == b"data:":
            self.data.append(line[6:] if line[5:6] == b" " else line[5:])
            self.size += len(line)
        elif line == b"data":
            self.data.append(b"")
        elif not line and self.data:
            return self.end()
        return None

    def end(self) -> str:
        """Return the data, and begin anew."""
        data, self.data, self.size = self.data, [], 0
        return b"\n".join(data).decode("utf-8", "replace")


def lines(pieces: Iterable[bytes], limit: int) -> Iterator[list[bytes]]:
    """Yield the lines that each piece completes, in time linear in the bytes.

    Raises as `events` does.
    """
    begun: list[bytes] = []
    size = 0
    for piece in _with_lf(pieces):
        *complete, rest = piece.split(b"\n")
        if complete and begun:
            complete[0] = b"".join((*begun, complete[0]))
            begun, size = [], 0
        if complete:
            yield complete
        if rest:
            begun.append(rest)
            size += len(rest)
            if size > limit:
                raise _too_long(limit)


def _with_lf(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """End every line with LF alone, where it may have been CR LF or CR."""
    after_cr = False
    for piece in pieces:
        if after_cr and piece:
            piece, after_cr = piece.removeprefix(b"\n"), False
        if b"\r" in piece:
            after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield piece


def _too_long(limit: int) -> ProviderGarbled:
    return ProviderGarbled(f"The model server sent an event of more than {limit:,} bytes.")
