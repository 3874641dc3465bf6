"""What a tool hands to the very next call beside its text: rich objects, never shown or stored."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.contracts import Image


class Extras(dict[str, Any]):
    """What the call before handed on, for a tool's parameter `extras: Extras`."""


class Handed:
    """A tool's output with extras for the next call; under any policy it reads as the output alone.

    `extras` may still be filled while the output is streamed.
    """

    def __init__(self, output: str | Iterable[str | Image], extras: Mapping[str, Any]) -> None:
        self.extras = extras
        self._pieces = iter((output,) if isinstance(output, str) else output)

    def __iter__(self) -> Iterator[str | Image]:
        return self

    def __next__(self) -> str | Image:
        return next(self._pieces)

    def close(self) -> None:
        """Let go of the output, also when it was not read to its end."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()
