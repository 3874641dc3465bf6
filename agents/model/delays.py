"""How long to wait before a server that is busy is asked again."""

import random

from agents.control import Control
from agents.errors import ProviderError

FIRST_DELAY = 0.5
MAX_DELAY = 120.0
"""Seconds; a server that asks for more patience than this is not waited for."""


def delay_after(error: ProviderError, failures: int) -> float:
    """Return the seconds before the next try: as the server asks, else longer each time."""
    if error.retry_after is not None:
        return error.retry_after
    # Spread, so that runs which failed together do not come back together.
    return FIRST_DELAY * 2.0 ** (failures - 1) * random.uniform(0.75, 1.25)  # noqa: S311


def may_wait(seconds: float, control: Control) -> bool:
    """Tell whether waiting so long is worth it: the run has the time, and it is no eternity."""
    return seconds <= MAX_DELAY and seconds < control.remaining()
