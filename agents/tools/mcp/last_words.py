"""What a server's process wrote to its stderr last, for the administrator."""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from typing import TextIO

from agents.text import storable

_BYTES = 16_000
_CHARACTERS = 4_000
_CHUNK = 65_536


class LastWords:
    """The end of a stderr, in constant memory; read by the connections' thread, asked by any."""

    def __init__(self) -> None:
        self._kept = b""

    @property
    def text(self) -> str:
        """Return the last lines as text that can be stored and shown."""
        said = storable(self._kept.decode(errors="replace"))[-_CHARACTERS:]
        return "\n".join(_shown(line) for line in said.splitlines()).strip()

    @contextlib.contextmanager
    def of(self) -> Iterator[TextIO]:
        """Give a file to write to while the block lasts; the running loop reads along."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        loop = asyncio.get_running_loop()
        loop.add_reader(read, self._read, read)
        try:
            # Our own end stays open meanwhile, so that the loop never wakes for an end of file.
            with os.fdopen(write, "w") as file:
                yield file
        finally:
            self._read(read)
            loop.remove_reader(read)
            os.close(read)

    def _read(self, file: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self._kept = (self._kept + os.read(file, _CHUNK))[-_BYTES:]


def _shown(line: str) -> str:
    return "".join(character if character.isprintable() else " " for character in line)
