"""What every run of the bench is asked and answered, so that ours and the bare loop do the same.

A run is TURNS turns that think and call a tool, and an answer; a token is a piece of text.
"""

import math
import random
import time

TURNS = 3
STEP_TOKENS = 75
ANSWER_TOKENS = 150
RATE = 50
TOKENS = TURNS * STEP_TOKENS + ANSWER_TOKENS
IDEAL_SECONDS = TOKENS / RATE
"""How long a run takes when nothing but the model takes time."""
WINDOW_SECONDS = 10.0
"""How long is measured, once all runs have begun."""

TOOL = "calculator"
QUESTION = "What do the numbers from one to three come to, each with one added?"


def expression(turn: int) -> str:
    """Return what a turn asks the tool; never the same twice, for that would be a repeat."""
    return f"{turn + 1} + 1"


def delays(count: int, seed: int) -> list[float]:
    """Return when each of `count` people asks first: spread over the length of a run."""
    chance = random.Random(seed)  # noqa: S311
    return [chance.uniform(0, IDEAL_SECONDS) for _ in range(count)]


class Sample:
    """What is seen of runs that are asked for while the window is open, or end in it."""

    def __init__(self) -> None:
        self.firsts: list[float] = []
        self.seconds: list[float] = []
        self._opens = math.inf
        self._closes = math.inf

    def first(self, asked: float, at: float) -> None:
        """Take the first token of a run."""
        if self._opens <= asked < self._closes:
            self.firsts.append(at - asked)

    def end(self, asked: float, at: float) -> None:
        """Take the end of a run."""
        if self._opens <= at < self._closes:
            self.seconds.append(at - asked)

    def take(self, ramp: float, window: float) -> None:
        """Open the window after `ramp` seconds, close it `window` later, and say both aloud."""
        time.sleep(ramp)
        self._opens = time.monotonic()
        print("open", flush=True)
        time.sleep(window)
        self._closes = time.monotonic()
        print("closed", flush=True)

    def figures(self) -> dict[str, list[float]]:
        """Return the seconds to each first token, and those of each run that ended."""
        return {"firsts": self.firsts, "seconds": self.seconds}
