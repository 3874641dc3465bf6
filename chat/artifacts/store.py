"""The store of artifacts: contents by their SHA-256, each there once however many rows name it.

Which storage holds them is the setting STORAGES["artifacts"]. Whatever goes wrong there is one of
two: it is away, and another time may do, or it has lost what it was given.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

_DIGEST = re.compile(r"[0-9a-f]{64}")


class ArtifactsAway(Exception):
    """Raised when the storage cannot be reached, or refuses; another time it may do."""


class ArtifactLost(Exception):
    """Raised when the storage has not what it was given."""


def digest_of_content(content: bytes) -> str:
    """Return what a content is known by: its SHA-256, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def put(content: bytes) -> str:
    """Store a content, unless it is there already; return its digest. Raises ArtifactsAway."""
    digest = digest_of_content(content)
    with _reached() as storage:
        if not storage.exists(_path(digest)):
            storage.save(_path(digest), ContentFile(content))
    return digest


def content_of(digest: str) -> bytes:
    """Return a content as it was stored; raises ArtifactsAway or ArtifactLost."""
    with _reached() as storage:
        try:
            with storage.open(_path(digest)) as file:
                content: bytes = file.read()
        except FileNotFoundError:
            raise ArtifactLost(f"The artifact {digest} is not there any more.") from None
    if digest_of_content(content) != digest:
        raise ArtifactLost(f"The artifact {digest} is not what was stored.")
    return content


def delete(digest: str) -> None:
    """Delete a content, if it is there; raises ArtifactsAway."""
    with _reached() as storage:
        storage.delete(_path(digest))


def all_digests() -> Iterator[str]:
    """Yield the digest of everything that is there, by listing it; raises ArtifactsAway."""
    with _reached() as storage:
        for folder in _listed(storage, "")[0]:
            for name in _listed(storage, folder)[1]:
                if found := _DIGEST.match(name):
                    yield found[0]


@contextmanager
def _reached() -> Iterator[Storage]:
    """Give the storage; what it raises depends on which it is."""
    try:
        yield storages["artifacts"]
    except ArtifactLost:
        raise
    except Exception as error:
        raise ArtifactsAway(f"{type(error).__name__}: {error}") from error


def _listed(storage: Storage, folder: str) -> tuple[list[str], list[str]]:
    try:
        return storage.listdir(folder)
    except FileNotFoundError:
        return [], []


def _path(digest: str) -> str:
    """Return the file's name: 256 folders, so that none of them grows long."""
    return f"{digest[:2]}/{digest}"
