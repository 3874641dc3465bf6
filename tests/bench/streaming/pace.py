"""The pace of all producers: each run says its tokens at its own rate, the runs evenly apart."""

import time
from collections.abc import Callable, Sequence


def keep_pace(
    runs: Sequence[int],
    tokens: int,
    rate: float,
    say: Callable[[int, str], None],
    between: Callable[[], None] = lambda: None,
) -> None:
    """Call `say(run, token)` when it is due; a token is the moment it was said, in ns, and `;`.

    `between` is called whenever nothing is due.
    """
    start = time.monotonic() + 0.1
    for number in range(tokens):
        for place, run in enumerate(runs):
            due = start + (number + place / len(runs)) / rate
            if due > time.monotonic():
                between()
                time.sleep(max(0.0, due - time.monotonic(), 0.001))
            say(run, f"{time.monotonic_ns()};")
    between()
