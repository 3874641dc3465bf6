"""Stop, deadline and patience of one run, shared by the loop, the model calls and the tools."""

import threading
import time

from agents.errors import Halted, Interrupted, OutOfTime, Stopped


class Control:
    """Let any thread halt a run, and let the run's own thread notice it within moments.

    `seconds` is the run's whole time, None for no limit; `idle_seconds` is how long a model may
    send nothing. `check` is called before each step, between chunks and while waiting.
    """

    def __init__(self, seconds: float | None = None, idle_seconds: float = 60.0) -> None:
        self.idle_seconds = idle_seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._halted = threading.Event()
        self._cause: type[Halted] = Stopped

    def stop(self) -> None:
        """End the run because its user asked for it."""
        self._halt(Stopped)

    def interrupt(self) -> None:
        """Let go of the run so that another worker can go on with it."""
        self._halt(Interrupted)

    def check(self) -> None:
        """Raise Stopped, Interrupted or OutOfTime if the run must not go on."""
        if self._halted.is_set():
            raise self._cause
        if self.remaining() <= 0:
            raise OutOfTime

    def wait(self, seconds: float) -> None:
        """Sleep, but wake and raise as soon as the run must not go on."""
        self._halted.wait(max(0.0, min(seconds, self.remaining())))
        self.check()

    def remaining(self) -> float:
        """Return the seconds left, infinity when there is no limit."""
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()

    def _halt(self, cause: type[Halted]) -> None:
        if not self._halted.is_set():
            self._cause = cause
            self._halted.set()
