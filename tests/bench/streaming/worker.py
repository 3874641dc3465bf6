"""A worker that writes into all runs' streams through our publisher; starts at a line on stdin.

`worker.py TOKENS RATE RUN…`
"""

import sys
import time

import django

django.setup()

from agents.control import Control  # noqa: E402
from chat.stream.publisher import Publisher  # noqa: E402
from tests.bench.streaming.pace import keep_pace  # noqa: E402


def main(tokens: int, rate: float, runs: list[int]) -> None:
    """Say the tokens of all runs, and how much CPU that took."""
    publisher = Publisher()
    channels = {run: publisher.open(run, 1, Control()) for run in runs}

    def say(run: int, token: str) -> None:
        channels[run].put({"type": "thought.delta", "index": 0, "text": token})

    print("up", flush=True)
    sys.stdin.readline()
    keep_pace(runs, tokens, rate, say)
    if not publisher.flush(30):
        sys.exit("The frames did not reach Redis.")
    print(time.process_time(), flush=True)


main(int(sys.argv[1]), float(sys.argv[2]), [int(run) for run in sys.argv[3:]])
