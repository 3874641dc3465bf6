"""What all processes and files of a sandbox take together, and its end when that is too much.

The limits that a process has count for each process by itself. So the whole group is looked at
many times a second. Memory that is in no process is refused by the filter of system calls.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from agents.errors import ToolFailed

_EVERY = 0.05
"""Seconds between two looks."""

_INODE_BYTES = 1024
"""What the kernel keeps for a file however short it is."""

_PROC = Path("/proc")


class Watch:
    """The processes below `pid`, and the file system of `work_bytes` at `work` that they share.

    They may take `most` bytes together.
    """

    def __init__(self, pid: int, work: str, work_bytes: int, most: int) -> None:
        self._pid = pid
        self._work = work.lstrip("/")
        self._work_bytes = work_bytes
        self._most = most
        self._next = time.monotonic() + _EVERY

    def look(self) -> None:
        """Count, if it is time to; raises ToolFailed when all of it is too much."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        if self._is_too_much():
            raise ToolFailed(
                "Error executing code: its processes and files together took more than "
                f"{self._most // 1024**2} MB of memory, so it was stopped."
            )

    def _is_too_much(self) -> bool:
        group = list(_with_children(self._pid))
        files = max((self._files(pid) for pid in group), default=0)
        if files + sum(map(_resident, group)) <= self._most:
            return False
        # Pages that a fork shares were counted for each process. To share them out takes a walk
        # over all of them, so it is done only now.
        return files + sum(map(_share, group)) > self._most

    def _files(self, pid: int) -> int:
        """Return what the files that this process sees at its place of work take."""
        try:
            seen = os.statvfs(_PROC / str(pid) / "root" / self._work)
        except OSError:
            return 0  # it ended, or is not inside yet
        if seen.f_blocks * seen.f_frsize != self._work_bytes:
            return 0  # not inside yet: this is a folder of the host
        blocks = (seen.f_blocks - seen.f_bfree) * seen.f_frsize
        return blocks + (seen.f_files - seen.f_ffree) * _INODE_BYTES


def _with_children(pid: int) -> Iterator[int]:
    """Yield a process and all below it; a child whose parent ends belongs to the group's first."""
    yield pid
    tasks = _PROC / str(pid) / "task"
    try:
        names = os.listdir(tasks)
    except OSError:
        return  # it has ended meanwhile
    for name in names:
        for child in _words(tasks / name / "children"):
            yield from _with_children(int(child))


def _resident(pid: int) -> int:
    return _bytes(pid, "status", ("VmRSS:", "VmSwap:"))


def _share(pid: int) -> int:
    """Return a process's share of its pages; of one that hides them, all that it holds."""
    return _bytes(pid, "smaps_rollup", ("Pss:", "SwapPss:")) or _resident(pid)


def _bytes(pid: int, name: str, wanted: tuple[str, ...]) -> int:
    found = 0
    with contextlib.suppress(OSError), (_PROC / str(pid) / name).open() as lines:
        for line in lines:
            if line.startswith(wanted):
                found += int(line.split()[1]) * 1024
    return found


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
