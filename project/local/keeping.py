"""Parts that are started anew when they die: a worker that the system killed costs moments.

Runs, pages and wake-ups outlive each of ours, and Valkey. Not so Postgres: what a killed one leaves
behind may still write for a moment, and must not do so beside a new one.
"""

import signal
import time
from collections.abc import Callable

from project.errors import CannotStart
from project.local.postgres import last_words
from project.local.processes import Child, Program, start

MAX_DEATHS = 3
WITHIN_SECONDS = 60.0


class Part:
    """A running program, which `look` replaces when it has died, if it `may_return`."""

    def __init__(
        self, program: Callable[[], Program], say: Callable[[str, str], None], may_return: bool
    ) -> None:
        self._program = program
        self._say = say
        self._may_return = may_return
        self._deaths: list[float] = []
        self.child = start(program(), say)

    def look(self, is_up: bool) -> str:
        """Return "" while it lives; start it anew and return how it ended.

        Raises CannotStart where that will not help: while all of it is not yet up, and at the
        death that is the MAX_DEATHSth in WITHIN_SECONDS.
        """
        dead = self.child
        if dead.code is None:
            return ""
        now = time.monotonic()
        self._deaths = [at for at in self._deaths if now - at < WITHIN_SECONDS] + [now]
        if not (is_up and self._may_return):
            raise CannotStart(_why(dead))
        if len(self._deaths) >= MAX_DEATHS:
            often = f"{len(self._deaths)} times within {WITHIN_SECONDS:.0f} s"
            raise CannotStart(f"{dead.name} died {often}: {_why(dead)}")
        dead.kill()  # what it has left in its session
        self.child = start(self._program(), self._say)
        return dead.obituary() + _hint(dead)


def _why(dead: Child) -> str:
    if dead.program.log is None:
        return f"{dead.obituary()}; its last lines above say why. Everything else was stopped."
    return f"{dead.obituary()}{_hint(dead)}: {last_words(dead.program.log)}"


def _hint(dead: Child) -> str:
    is_killed = dead.code == -signal.SIGKILL
    return " (the system does that when memory is short)" if is_killed else ""
