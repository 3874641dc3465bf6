"""Artifacts in a folder of this machine, or of one that all machines share."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

ROOM = 0o700
PRIVATE = 0o600


class Folder(FileSystemStorage):
    """Files that are there whole, on the disk, or not at all; a name always has the same content.

    Only who runs Turnstone may read them.
    """

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name: whoever writes it as well writes the same."""
        return name

    def delete(self, name: str) -> None:
        """Delete a file, and what a process that was killed had written of it."""
        super().delete(name)
        path = Path(self.path(name))
        for part in path.parent.glob(f"{path.name}.*"):
            part.unlink(missing_ok=True)

    def _save(self, name: str, content: "File[bytes]") -> str:
        path = Path(self.path(name))
        path.parent.mkdir(mode=ROOM, parents=True, exist_ok=True)
        with NamedTemporaryFile(prefix=f"{path.name}.", dir=path.parent, delete=False) as draft:
            try:
                shutil.copyfileobj(content, draft)
                draft.flush()
                os.fchmod(draft.fileno(), PRIVATE)
                os.fsync(draft.fileno())
                os.replace(draft.name, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft.name)
                raise
        _keep_entry(path.parent)
        return name


def _keep_entry(folder: Path) -> None:
    """Have the disk keep what was entered into the folder."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
