"""How many slots a model gets on this machine, and how long a context: by its cores and memory."""

import os
from dataclasses import dataclass
from pathlib import Path

import psutil

from project.errors import CannotStart
from project.local.model.gguf import Weights

MOST_SLOTS = 8
CONTEXTS = (16_384, 8_192, 4_096, 2_048)
"""The tokens of one slot: as many as fit, and no more than the model was trained with."""

WORK_BYTES = 400 * 2**20
"""What llama.cpp takes beside weights and contexts: its library, buffers, replies in the making."""

CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Room:
    """The requests that are worked on at once, a core each, and the tokens of a context."""

    slots: int
    context: int


def room_for(weights: Weights, free: int, cores: int) -> Room:
    """Return what fits into `free` bytes; raises CannotStart where not even one slot does."""
    most = max(1, min(cores, MOST_SLOTS))
    contexts = [size for size in CONTEXTS if size <= (weights.context or size)]
    contexts = contexts or [weights.context]
    wishes = [Room(most, context) for context in contexts]
    wishes += [Room(slots, contexts[-1]) for slots in range(most - 1, 0, -1)]
    for wish in wishes:
        if needed(weights, wish) <= free:
            return wish
    raise CannotStart(
        f"{weights.path} does not fit into the memory: it needs {_gigabytes(needed(weights, wish))}"
        f", and {_gigabytes(free)} are free. Close what takes memory, or take a smaller model or "
        "one of fewer bits."
    )


def needed(weights: Weights, room: Room) -> int:
    """Return the bytes that the model takes with these contexts."""
    return weights.size + room.slots * room.context * weights.token_bytes + WORK_BYTES


def free_memory(cgroup: Path = CGROUP) -> int:
    """Return the bytes that a program may still take: the machine's, or its container's."""
    free = int(psutil.virtual_memory().available)
    try:
        limit, taken = ((cgroup / f"memory.{name}").read_text() for name in ("max", "current"))
        pages = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        return min(free, int(limit) - int(taken) + int(pages["inactive_file"]))
    except (OSError, ValueError, KeyError):  # "max" is no number, and no limit
        return free


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
