"""What every driver shares: it says that it is ready, and then does one run for each line."""

import json
import sys
import time
import traceback
from collections.abc import Callable

Done = tuple[str, int, int]
"""The answer of a run, the pieces of text that came of it, and the tools that were called."""


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def serve(run: Callable[[str, int], Done]) -> None:
    """Call `run` with the server's address and the number of turns, as often as asked."""
    print(json.dumps({"import_cpu": time.process_time()}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        answer, deltas, tools, error = "", 0, 0, ""
        try:
            answer, deltas, tools = run(asked["url"] + f"/k{asked['turns']}", asked["turns"])
        except Exception as failure:
            traceback.print_exc()
            error = repr(failure)[:300]
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        done = {"answer": answer, "deltas": deltas, "tools": tools, "error": error}
        print(json.dumps(done | {"cpu": cpu, "wall": wall}), flush=True)
