"""Measure a run as a coroutine beside a run as a thread, on the bare loop, interleaved.

`make bench-coroutines`, with N= (runs at once, "16,64,128,256") and ROUNDS= (3). The model server
of `bench-runs` says the same to all at 50 tokens a second: three turns that call a tool, and an
answer. Nothing is stored and nobody watches, so what is compared is the waiting alone; the kinds
are those of `running.loops`. The CPU is that of the process in the window, divided by the runs
whose text was said in it; percentiles are of all rounds.
"""

import json
import os
import statistics
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.processes import cpu_seconds, expect, heard, say, worker  # noqa: E402
from tests.bench.running.loops import KINDS  # noqa: E402
from tests.bench.running.script import TOKENS  # noqa: E402
from tests.bench.runs import (  # noqa: E402
    COUNTS,
    PARTS,
    ROUNDS,
    model_server,
    percentile,
    tokens_said,
)

OURS = "engine"
UNITS = {"cpu_per_run": "ms", "memory": "MB"}

Rows = dict[str, list[float]]


def main() -> None:
    """Measure round by round, then print the figures of all rounds."""
    found: dict[tuple[int, str], Rows] = {}
    with model_server() as url:
        for number in range(ROUNDS):
            for count in COUNTS:
                for kind in KINDS:
                    rows = measured(kind, url, count, number)
                    kept = found.setdefault((count, kind), {})
                    for key, values in rows.items():
                        kept.setdefault(key, []).extend(values)
                    print(f"round {number + 1} N={count} {kind}: {shown(rows)}", flush=True)
    for count in COUNTS:
        figures = {kind: figures_of(found[count, kind]) for kind in KINDS}
        ours = figures.pop(OURS)
        for key, value in ours.items():
            for kind, theirs in figures.items():
                name, unit = f"coroutines_{count}_{key}", UNITS.get(key, "s")
                print(f"FIGURE {name} {value:.4g} {unit} vs {kind} {theirs[key]:.4g}")


def measured(kind: str, url: str, count: int, seed: int) -> Rows:
    """Let one kind work in a process of its own, and return what was seen of it."""
    # No proxy and no key of the environment has a part in it.
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
    with worker(environment, PARTS / "loops.py", kind, url, str(count), str(seed)) as process:
        say(process, "go")
        expect(process, "open")
        cpu, said = cpu_seconds(process.pid), tokens_said(url)
        expect(process, "closed")
        cpu, said = cpu_seconds(process.pid) - cpu, tokens_said(url) - said
        memory = psutil.Process(process.pid).memory_full_info().pss / 1e6
        rows: Rows = json.loads(heard(process))
    return rows | {"cpu": [cpu * TOKENS / said], "memory": [memory]}


def figures_of(rows: Rows) -> dict[str, float]:
    """Return the figures of one or more rounds."""
    return {
        "cpu_per_run": 1000 * statistics.median(rows["cpu"]),
        "run_p50": percentile(rows["seconds"], 50),
        "run_p95": percentile(rows["seconds"], 95),
        "first_p50": percentile(rows["firsts"], 50),
        "first_p95": percentile(rows["firsts"], 95),
        "memory": max(rows["memory"]),
    }


def shown(rows: Rows) -> str:
    """Return the figures of one round as words."""
    words = (f"{key}={value:.4g}" for key, value in figures_of(rows).items())
    return f"{' '.join(words)} (load {os.getloadavg()[0]:.1f})"


if __name__ == "__main__":
    main()
