"""Keep a worker's threads on one core, and leave it to others who need it more.

Measured with 128 runs at once on two virtual cores: 58 ms of CPU a run on one core, 77 to 100 where
the system spread the threads (see docs/decisions.md). The core is chosen by what each of them had
to do lately, so several workers of a machine, in containers or not, come to rest on different ones.
"""

import logging
import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from agents.cores import ALL, keep_to

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
NEEDED = 0.1
"""The share of a core that this process must need for it to matter where it runs."""
CROWDED = 0.3
"""The share of its core that others may take before this process moves."""
FREE = 0.5
"""The share of a core that must be free for this process to move there."""
TIMES = Path("/proc/stat")

Idle = Mapping[int, float]
"""The share of each core that nobody used."""


class Core:
    """The one core that this process runs on, None while it may run on all of `cores`."""

    def __init__(self, cores: frozenset[int], chance: random.Random) -> None:
        self.current: int | None = None
        self._cores = cores
        self._chance = chance

    def choose(self, idle: Idle, own: float) -> frozenset[int]:
        """Return the cores to run on, after a while of which this process took `own` of a core."""
        if own >= NEEDED and self._is_crowded(idle, own):
            spread = 0.0 if self.current is not None else own / len(self._cores)
            free = [core for core, share in idle.items() if share + spread > FREE]
            self.current = self._chance.choice(free) if free else None
        return self._cores if self.current is None else frozenset((self.current,))

    def _is_crowded(self, idle: Idle, own: float) -> bool:
        if self.current is None:
            return True
        others = 1.0 - idle.get(self.current, 0.0) - own
        # Two who meet on a core must not leave it both.
        return others > CROWDED and self._chance.random() < 0.5


def keep_to_one_core() -> None:
    """Look from now on, in a thread, which core is best; where the system tells nothing, never."""
    if len(ALL) > 1 and TIMES.exists():
        threading.Thread(target=_keep, name="core", daemon=True).start()


def _keep() -> None:
    core = Core(ALL, random.Random())  # noqa: S311 - no secret hangs on it
    before, own_before, at_before = _times(), time.process_time(), time.monotonic()
    while True:
        time.sleep(LOOK_SECONDS)
        now, own, at = _times(), time.process_time(), time.monotonic()
        was = core.current
        cores = core.choose(_idle(before, now), (own - own_before) / (at - at_before))
        if core.current != was:
            keep_to(cores)
            logger.info(
                "The threads run on core %s", "any" if core.current is None else core.current
            )
        before, own_before, at_before = now, own, at


def _times() -> dict[int, tuple[int, int]]:
    """Return how long each core was idle, and how long in all, in the system's ticks."""
    found: dict[int, tuple[int, int]] = {}
    for line in TIMES.read_text().splitlines():
        name, *ticks = line.split()
        number = name.removeprefix("cpu")
        if name.startswith("cpu") and number.isdigit() and int(number) in ALL:
            spent = [int(tick) for tick in ticks[:8]]
            found[int(number)] = (spent[3] + spent[4], sum(spent))
    return found


def _idle(before: Mapping[int, tuple[int, int]], now: Mapping[int, tuple[int, int]]) -> Idle:
    """Return the idle share of each core that was there all the time."""
    return {
        core: (now[core][0] - idle) / max(1, now[core][1] - whole)
        for core, (idle, whole) in before.items()
        if core in now
    }
