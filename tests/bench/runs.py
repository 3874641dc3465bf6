"""Measure many runs at once on one worker process beside bare SDK loops in threads, interleaved.

`make bench-runs`, with N= (runs at once, "16,64,128,256") and ROUNDS= (3). One model server says
the same to both at 50 tokens a second: three turns that call a tool, and an answer (`running.
script`). Ours is the whole way of a run: `ask`, a Celery worker, claim, lease, every turn and call
stored, each token in the run's Redis stream; Postgres and Valkey are throw-away. The floor is a
hand-written loop on the openai SDK in as many threads, which stores nothing and can be neither
stopped nor resumed. N people ask at moments of their own, and again as soon as the answer is there.

Times go from the wish to what is read from the stream; the live path behind it is `bench-stream`.
The CPU is that of the worker, or of the floor, in the window; percentiles are of all rounds. Where
the host had other things to do for much of the time (`stolen`), the seconds say little.
"""

import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from project.local import programs  # noqa: E402
from project.local.throwaway import throwaway  # noqa: E402
from tests.bench.processes import (  # noqa: E402
    Process,
    call,
    cpu_seconds,
    expect,
    free_port,
    heard,
    running,
    say,
    worker,
)
from tests.bench.running.script import IDEAL_SECONDS, RATE, TOKENS, WINDOW_SECONDS  # noqa: E402

PARTS = Path(__file__).with_name("running")
COUNTS = [int(n) for n in (os.environ.get("N") or "16,64,128,256").split(",")]
ROUNDS = int(os.environ.get("ROUNDS") or 3)
OURS, FLOOR = "turnstone", "bare_sdk"
STOPS = 20
AIMS = {"first_p95": 1.0, "stop_p95": 1.0, "connections": 24.0}

Rows = dict[str, list[float]]


def main() -> None:
    """Measure round by round, then print the figures of all rounds."""
    found: dict[tuple[int, str], Rows] = {}
    with throwaway() as services, model_server() as url:
        environment = os.environ | services | {"PYTHONPATH": str(ROOT)}
        environment["DJANGO_SETTINGS_MODULE"] = "project.settings"
        call(environment, "manage.py", "migrate", "-v0")
        for number in range(ROUNDS):
            for count in COUNTS:
                keep(found, count, OURS, number, ours(environment, url, count, number))
                keep(found, count, FLOOR, number, floor(url, count, number))
    for count in COUNTS:
        report(count, figures_of(found[count, OURS]), figures_of(found[count, FLOOR]))


def keep(
    found: dict[tuple[int, str], Rows], count: int, name: str, number: int, rows: Rows
) -> None:
    """Add what a round found to the rounds before, and print it."""
    kept = found.setdefault((count, name), {})
    for key, values in rows.items():
        kept.setdefault(key, []).extend(values)
    shown = " ".join(f"{key}={value:.4g}" for key, value in figures_of(rows).items())
    load = os.getloadavg()[0]
    print(f"round {number + 1} N={count} {name}: {shown} (load {load:.1f})", flush=True)


def figures_of(rows: Rows) -> dict[str, float]:
    """Return the figures of one or more rounds."""
    figures = {
        "first_p50": percentile(rows["firsts"], 50),
        "first_p95": percentile(rows["firsts"], 95),
        "run_p50": percentile(rows["seconds"], 50),
        "cpu_per_run": 1000 * statistics.median(rows["cpu"]),
        "busy": statistics.median(rows["busy"]),
        "memory": max(rows["memory"]),
        "stolen": statistics.median(rows["stolen"]),
    }
    if "stops" in rows:
        figures |= {
            "burst_p95": percentile(rows["burst"], 95),
            "stop_p50": percentile(rows["stops"], 50),
            "stop_p95": percentile(rows["stops"], 95),
            "connections": max(rows["connections"]),
            "postgres_per_run": 1000 * statistics.median(rows["postgres"]),
            "valkey_per_run": 1000 * statistics.median(rows["valkey"]),
        }
    return figures


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile; of fewer than two values, the one."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def report(count: int, ours: dict[str, float], floor: dict[str, float]) -> None:
    """Print the lines that other programs read."""
    units = {"busy": "cores", "memory": "MB", "connections": "connections", "stolen": "percent"}
    others = {key: {"aim": aim} for key, aim in AIMS.items()} | {
        "run_p50": {"ideal": IDEAL_SECONDS},
        "burst_p95": {"ideal": 1 / RATE},
        "stop_p50": {"ideal": 0.0},
        "postgres_per_run": {FLOOR: 0.0},
        "valkey_per_run": {FLOOR: 0.0},
    }
    for key, value in ours.items():
        unit = "ms" if key.endswith("per_run") else units.get(key, "s")
        against = ({FLOOR: floor[key]} if key in floor else {}) | others.get(key, {})
        for name, theirs in against.items():
            print(f"FIGURE runs_{count}_{key} {value:.4g} {unit} vs {name} {theirs:.4g}")
    sys.stdout.flush()


def ours(environment: Mapping[str, str], url: str, count: int, seed: int) -> Rows:
    """Measure one worker process with as many threads as people ask."""
    address = environment["DATABASE_URL"]
    named = f"{address}{'&' if '?' in address else '?'}application_name=worker"
    settings = {"DATABASE_URL": named, "WORKER_THREADS": str(count)}
    program = programs.worker({**environment, **settings})
    people = ("people.py", url, str(count), str(seed), str(STOPS))
    with (
        running(program.command, program.environment or {}) as process,
        worker(environment, PARTS / people[0], *people[1:]) as asking,
    ):
        return measured(asking, process, url)


def floor(url: str, count: int, seed: int) -> Rows:
    """Measure the bare loops; they run in the process that asks."""
    # No proxy and no key of the environment has a part in it.
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
    with worker(environment, PARTS / "bare.py", url, str(count), str(seed)) as process:
        return measured(process, process, url)


def measured(asking: Process, working: Process, url: str) -> Rows:
    """Let them begin, take what the window costs, and return all that was seen."""
    pids = {"cpu": working.pid} | servers()
    say(asking, "go")
    expect(asking, "open")
    before, said = {name: cpu_seconds(pid) for name, pid in pids.items()}, tokens_said(url)
    stolen = stolen_seconds()
    expect(asking, "closed")
    stolen = stolen_seconds() - stolen
    used = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    # Runs that begin or end outside the window lie in it in part: what counts is the text said.
    runs = (tokens_said(url) - said) / TOKENS
    memory = psutil.Process(working.pid).memory_full_info().pss / 1e6
    rows: Rows = json.loads(heard(asking))
    rows |= {name: [seconds / runs] for name, seconds in used.items()}
    rows |= {"busy": [used["cpu"] / WINDOW_SECONDS], "memory": [memory]}
    return rows | {"stolen": [100 * stolen / WINDOW_SECONDS / (psutil.cpu_count() or 1)]}


def stolen_seconds() -> float:
    """Return how long the cores of a virtual machine have waited for those of its host."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def servers() -> dict[str, int]:
    """Return the throw-away servers by the names of their programs."""
    names = {"postgres": "postgres", "valkey-server": "valkey"}
    children = {child.name(): child.pid for child in psutil.Process().children()}
    return {name: children[program] for program, name in names.items()}


def tokens_said(url: str) -> int:
    """Ask the model server how many tokens it has said."""
    return int(httpx2.get(f"{url}/said", trust_env=False).text)


@contextmanager
def model_server() -> Iterator[str]:
    """Run the model server and give its address."""
    port = free_port()
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}
    with worker(environment, PARTS / "model.py", str(port)):
        yield f"http://127.0.0.1:{port}"


if __name__ == "__main__":
    main()
