"""Stop, deadline and patience of one run, shared by the loop, the model calls and the tools."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents.errors import Halted, Interrupted, OutOfTime, ProviderSlow, Stopped
from agents.flag import Flag


class Control:
    """Let any thread or signal halt a run, and let its own thread notice it within moments.

    `seconds` is the time of the whole run, `call_seconds` that of one reply of a model, None for no
    limit; `idle_seconds` is how long a model may send nothing. `check` is called before each step,
    between chunks and while waiting. `waiting` is told how many calls are ahead while the run waits
    for its turn at a model, None when it has it; `paused` is told when the model's server wants no
    calls for a while, which ends with news of `waiting`.
    """

    def __init__(
        self,
        seconds: float | None = None,
        idle_seconds: float = 60.0,
        waiting: Callable[[int | None], None] | None = None,
        call_seconds: float | None = None,
        paused: Callable[[], None] | None = None,
    ) -> None:
        self.idle_seconds = idle_seconds
        self._call_seconds = call_seconds
        self._call_limit = 0.0
        self._call_deadline: float | None = None
        self._waiting = waiting
        self._paused = paused
        self._ahead: int | None = None
        self._is_paused = False
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._halted = Flag()
        self._cause: type[Halted] = Stopped
        self._is_leaving = False

    def stop(self) -> None:
        """End the run because its user asked for it."""
        self._halt(Stopped)

    def interrupt(self) -> None:
        """Let go of the run so that another worker can go on with it."""
        self._halt(Interrupted)

    def leave(self) -> None:
        """Let go of the run at its next safe point, so that no work is done twice."""
        self._is_leaving = True

    def safe_point(self) -> None:
        """Check the run where letting go of it loses nothing: between steps, and in a line.

        Raises as `check` does, and Interrupted when this worker is leaving.
        """
        self.check()
        if self._is_leaving:
            raise Interrupted

    def check(self) -> None:
        """Raise Stopped, Interrupted or OutOfTime if the run must not go on.

        Raises ProviderSlow within a model call that takes too long.
        """
        if self._halted.is_set():
            raise self._cause
        if _left(self._deadline) <= 0:
            raise OutOfTime
        if _left(self._call_deadline) <= 0:
            raise ProviderSlow(
                f"The model took longer than {self._call_limit:g} seconds for one reply."
            )

    def wait(self, seconds: float) -> None:
        """Sleep, but wake and raise as soon as the run must not go on."""
        self._halted.wait(max(0.0, min(seconds, self.remaining())))
        self.check()

    def tell_waiting(self, ahead: int | None) -> None:
        """Say that `ahead` calls come before the run's own, None that it waits no more.

        Only news is passed on. Called by the run's own thread.
        """
        if ahead == self._ahead and not self._is_paused:
            return
        self._ahead, self._is_paused = ahead, False
        if self._waiting is not None:
            self._waiting(ahead)

    def tell_paused(self) -> None:
        """Say that the model's server asks for patience; `tell_waiting` says that it is over."""
        if not self._is_paused:
            self._is_paused = True
            if self._paused is not None:
                self._paused()

    def remaining(self) -> float:
        """Return the seconds left of the run, or of its model call; infinity without a limit."""
        return min(_left(self._deadline), _left(self._call_deadline))

    @contextmanager
    def calling(self, used: float = 0.0) -> Iterator[None]:
        """Let the time of one model call count while the block lasts; `used` seconds of it are."""
        if self._call_seconds is None:
            yield
            return
        with self.calling_at_most(self._call_seconds, used):
            yield

    @contextmanager
    def calling_at_most(self, seconds: float, used: float = 0.0) -> Iterator[None]:
        """Let what is left of a model call within the block take no longer than this."""
        before = self._call_limit, self._call_deadline
        deadline = time.monotonic() + seconds - used
        if deadline < (before[1] or math.inf):
            self._call_limit, self._call_deadline = seconds, deadline
        try:
            yield
        finally:
            self._call_limit, self._call_deadline = before

    def _halt(self, cause: type[Halted]) -> None:
        if not self._halted.is_set():
            self._cause = cause
            self._halted.set()


def _left(deadline: float | None) -> float:
    return float("inf") if deadline is None else deadline - time.monotonic()
