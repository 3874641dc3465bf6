"""Who is struck when, and how: a plan that is the same for the same seed."""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple

from tests.chaos.servers import FROZEN, MAX_AWAY, Server, Servers


class Strike(NamedTuple):
    """One blow: when, what is done, and for how long, in seconds.

    One that is not `patient` may strike what has only just been started.
    """

    moment: float
    name: str
    away: float
    frozen: float
    is_patient: bool


WEIGHTS = {
    "worker kill": 8,
    "worker stop": 5,
    "worker freeze": 3,
    "web kill": 5,
    "web stop": 3,
    "web freeze": 1,
    "redis kill": 3,
    "redis loss": 3,
    "redis stop": 2,
    "redis freeze": 1,
    "postgres stop": 2,
    "postgres kill": 2,
    "postgres backend": 2,
}
PATIENT = 0.8
PARTS = tuple(dict.fromkeys(name.split()[0] for name in WEIGHTS))


def plan(seed: int, count: int, seconds: float, parts: Collection[str]) -> list[Strike]:
    """Return `count` strikes at random moments of so many seconds."""
    chance = random.Random(f"strikes {seed}")
    names = [name for name in WEIGHTS if name.split()[0] in parts]
    weights = [WEIGHTS[name] for name in names]
    moments = sorted(chance.uniform(0, seconds) for _ in range(count))
    return [
        Strike(
            moment,
            chance.choices(names, weights)[0],
            chance.uniform(0, MAX_AWAY),
            chance.uniform(*FROZEN),
            chance.random() < PATIENT,
        )
        for moment in moments
    ]


class Chaos:
    """Carry out a plan; a strike at what is down already waits until it is up."""

    def __init__(self, servers: Servers, strikes: list[Strike], seed: int) -> None:
        self._servers = servers
        self._strikes = strikes
        self._chance = random.Random(f"chaos {seed}")
        self.made: Counter[str] = Counter()

    def rage(self, tell: Callable[[str], None]) -> None:
        """Strike as planned, keeping all else alive."""
        began = time.monotonic()
        for strike in self._strikes:
            self._tend(began + strike.moment)
            target = self._chance.choice(self._candidates(strike))
            self._servers.wait(lambda: self._may_strike(strike, target), target.name)  # noqa: B023
            tell(f"{strike.name}: {target.name}, away {strike.away:.1f} s")
            self._carry_out(strike, target)
            self.made[strike.name] += 1

    def _tend(self, until: float) -> None:
        while time.monotonic() < until:
            self._servers.tend()
            time.sleep(0.02)

    def _candidates(self, strike: Strike) -> list[Server]:
        servers = self._servers
        match strike.name.split()[0]:
            case "worker":
                return servers.workers
            case "web":
                return servers.webs
            case "redis":
                return [servers.redis]
            case _:
                return [servers.postgres]

    def _may_strike(self, strike: Strike, target: Server) -> bool:
        return target.is_settled if strike.is_patient else target.is_up

    def _carry_out(self, strike: Strike, target: Server) -> None:
        match strike.name.split():
            case [_, "kill"]:
                target.kill(strike.away)
            case [_, "stop"]:
                target.ask_to_stop(strike.away)
            case [_, "freeze"]:
                target.freeze(strike.frozen)
            case ["redis", "loss"]:
                self._servers.lose_redis(strike.away)
            case ["postgres", "backend"]:
                self._servers.kill_backend(self._chance)
