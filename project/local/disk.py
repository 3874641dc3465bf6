"""Room on the disk: asked for before a start, and told about when it is the reason for an end."""

import shutil
from pathlib import Path

from project.errors import CannotStart

FIRST_START_MEGABYTES = 150
LATER_START_MEGABYTES = 40
FULL = ("No space left", "Disk quota exceeded")


def require_room(local: Path) -> None:
    """Raise CannotStart when the private servers could not write in `local`."""
    needed = LATER_START_MEGABYTES if (local / "postgres").exists() else FIRST_START_MEGABYTES
    if _free(local) < needed:
        raise CannotStart(_is_full(local, needed))


def explain(words: str, local: Path) -> str:
    """Say it plainly if the words mean that the disk is full; else return them as they are."""
    return _is_full(local, LATER_START_MEGABYTES) if any(s in words for s in FULL) else words


def _is_full(local: Path, needed: int) -> str:
    return (
        f"The disk is full: {_free(local)} MB are free in {local}, and Turnstone needs {needed} MB "
        "there. Make room and run this again; what was stored is kept."
    )


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder if folder.exists() else folder.parent).free // 2**20
