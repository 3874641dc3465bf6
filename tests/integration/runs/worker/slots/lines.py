"""What Redis holds of slots and of the lines for them."""

import time
from collections.abc import Callable
from typing import Any

from redis import Redis

from agents.model.slots import Quota


def waiting(redis: Redis, quota: Quota) -> int:
    return int(redis.zcard(f"slots:{{{quota.name}}}:line"))


def number(redis: Redis, quota: Quota) -> int:
    """Return how many calls have come to the quota."""
    return int(redis.get(f"slots:{{{quota.name}}}:next") or 0)


def expiry(redis: Redis, quota: Quota, ticket: str) -> float:
    score = redis.zscore(f"slots:{{{quota.name}}}:held", ticket)
    assert score is not None, "The slot is not held any more."
    return float(score)


def asked_for(redis: Redis) -> int:
    """Return how many commands on lines Redis has done, those of scripts among them."""
    stats: Any = redis.info("commandstats")
    lines = [name for name in stats if name.startswith(("cmdstat_z", "cmdstat_eval"))]
    return sum(stats[name]["calls"] for name in lines)


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("It never came to that.")
