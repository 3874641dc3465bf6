"""Server-sent events, read from bytes as they come.

The event stream format of the WHATWG HTML standard (9.2.6), as far as model servers use it: the
data of each event; names, ids and comments are passed over.
"""

from collections.abc import Iterable, Iterator

from agents.errors import ProviderGarbled

MAX_EVENT = 4_000_000
"""The bytes that one event may have; more is no reply of a model."""


def events(pieces: Iterable[bytes], *, limit: int = MAX_EVENT) -> Iterator[str]:
    """Yield the data of each event, however the bytes are cut into pieces.

    An event that the end of the bytes leaves open is yielded, but for an unfinished line. Raises
    ProviderGarbled for an event of more than `limit` bytes.
    """
    data: list[bytes] = []
    size = 0
    for line in lines(pieces, limit):
        if line[:5] == b"data:":
            value = line[6:] if line[5:6] == b" " else line[5:]
            size += len(value)
            if size > limit:
                raise _too_long(limit)
            data.append(value)
        elif line == b"data":
            data.append(b"")
        elif not line and data:
            yield b"\n".join(data).decode("utf-8", "replace")
            data = []
            size = 0
    if data:
        yield b"\n".join(data).decode("utf-8", "replace")


def lines(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield complete lines, in time linear in the bytes; raises as `events` does."""
    begun: list[bytes] = []
    size = 0
    for piece in _with_lf(pieces):
        *complete, rest = piece.split(b"\n")
        if complete and begun:
            complete[0] = b"".join((*begun, complete[0]))
            begun, size = [], 0
        yield from complete
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
