"""How the request of a model call is put together again of what is stored."""

import hashlib
from collections.abc import Iterable
from typing import TypeAlias

Range: TypeAlias = tuple[int, int, int]
Listed: TypeAlias = "list[str | Range]"
"""The pieces of a request in order: the digest of one, or those of an earlier call of the run.

A range is that call's index, and from which of its pieces up to which, the last one left out.
"""


class RequestCorrupted(Exception):
    """Raised when a stored request does not add up to what was sent."""


class Lists:
    """The lists of a run's calls, asked for in their order; one that no later call needs is let go.

    `links` has the index of each call with the indexes of those that its request is made of.
    """

    def __init__(self, links: Iterable[tuple[int, Listed]]) -> None:
        self._last_use = {used: index for index, listed in links for used in _used(listed)}
        self._digests: dict[int, list[str]] = {}

    def of(self, index: int, listed: Listed) -> list[str]:
        """Return the digests of a call's pieces; raises RequestCorrupted for a list without end."""
        digests: list[str] = []
        for entry in listed:
            if isinstance(entry, str):
                digests.append(entry)
                continue
            used, start, end = entry
            if used not in self._digests:
                raise RequestCorrupted(f"Call {index + 1} names call {used + 1}, which has none.")
            digests += self._digests[used][start:end]
        for used in _used(listed):
            if self._last_use[used] == index:
                del self._digests[used]
        if index in self._last_use:
            self._digests[index] = digests
        return digests

    def kept(self) -> set[str]:
        """Return the digests of all pieces that later calls may need."""
        return {digest for digests in self._digests.values() for digest in digests}


def own(listed: Listed) -> set[str]:
    """Return the digests of the pieces that a list names itself."""
    return {entry for entry in listed if isinstance(entry, str)}


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def piece_digest(text: str) -> str:
    """Return what a piece is known by in its run: half of its SHA-256, hexadecimal.

    Each digest stands in a row, an index and a list; no two texts have 128 bits in common.
    """
    return digest_of(text)[:32]


def _used(listed: Listed) -> set[int]:
    return {entry[0] for entry in listed if not isinstance(entry, str)}
