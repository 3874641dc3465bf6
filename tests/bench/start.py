"""Measure the start: cold from a fresh clone, warm, and the memory of everything at rest.

Run as `make bench-start`. It clones what is committed to a folder of its own, with no package
cache, so the cold figure holds the download; the warm one is the median of three. Memory is the sum
of the proportional set sizes (PSS), in MB, of all processes that `make run` started.
"""

import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
READY = re.compile(r"ready at (http://\S+)")
WARM_STARTS = 3
REST_SECONDS = 10
COLD_TARGET = 120
WARM_TARGET = 10
PATIENCE = 300


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="turnstone bench ") as folder:
        checkout = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
        cold, _ = measure(checkout)
        print(f"FIGURE start_cold {cold:.1f} s vs {COLD_TARGET} s", flush=True)
        warm = []
        for _ in range(WARM_STARTS):
            seconds, memory = measure(checkout)
            warm.append(seconds)
        print(f"FIGURE start_warm {statistics.median(warm):.1f} s vs {WARM_TARGET} s")
        for name, megabytes in memory.items():
            print(f"FIGURE idle_memory_{name} {megabytes:.0f} MB")
        print(f"FIGURE idle_memory_all {sum(memory.values()):.0f} MB")


def measure(checkout: Path) -> tuple[float, dict[str, float]]:
    """Start once; return the seconds until /readyz was well, and the memory at rest by process."""
    began = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"],
        cwd=checkout,
        env=environment(checkout),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        seconds = wait_until_ready(process, began)
        time.sleep(REST_SECONDS)
        return seconds, memory_of(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)


def wait_until_ready(process: "subprocess.Popen[str]", began: float) -> float:
    """Return the seconds until the launcher said that all is ready, which /readyz told it."""
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if READY.search(line):
            return time.monotonic() - began
        if time.monotonic() - began > PATIENCE:
            break
    raise SystemExit("It did not start:\n" + "".join(lines))


def environment(checkout: Path) -> dict[str, str]:
    """Take away what is configured here, and every cache."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL", "HOST", "MAKEFLAGS", "MAKELEVEL")
        and not name.startswith(("OPENAI_", "TURNSTONE_"))
    }
    cache = str(checkout.parent / "cache")
    return kept | {"PORT": "0", "UV_CACHE_DIR": cache, "PIP_NO_CACHE_DIR": "1"}


def memory_of(pid: int) -> dict[str, float]:
    """Return the memory of a process and all that came of it, by part."""
    found: dict[str, float] = {}
    process = psutil.Process(pid)
    for one in (process, *process.children(recursive=True)):
        name = part_of(one)
        found[name] = found.get(name, 0) + one.memory_full_info().pss / 2**20
    return found


def part_of(process: psutil.Process) -> str:
    """Return which part of Turnstone a process is."""
    command = " ".join(process.cmdline())
    for part, sign in {
        "postgres": "postgres",
        "valkey": "valkey",
        "web": "project.web",
        "worker": "celery",
        "launcher": "project.local.start",
    }.items():
        if sign in command:
            return part
    return process.name()


if __name__ == "__main__":
    if shutil.which("git") is None:
        raise SystemExit("The cold start is that of a clone: install git.")
    main()
