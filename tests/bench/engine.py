"""Measure what a turn costs in CPU: ours, the bare SDK, raw httpx and three agent frameworks.

Run as `make bench-engine` (ROUNDS=). Each program drives the same scripted server, which answers at
once, through the same number of tool turns and a last answer: some 25 pieces a turn. Ours are the
explicit policy and the native one, on `agents.loop.run` with the real provider, every event
validated and written down in memory as JSON. Each runs in a process of its own; a round runs all of
them, one after the other, and the ratio is to the bare SDK of the same round. CPU is the process's
own, all its threads; the figures are medians over the rounds, after one round to warm up.

The bare SDK calls tools natively, as its users do; so do httpx and the frameworks. The program
`openai_sdk_text` is the same SDK with our text format, whose requests are shorter.
"""

import json
import os
import statistics
import subprocess
import sys
import venv
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DRIVERS = Path(__file__).with_name("engine_drivers")
REQUIREMENTS = Path(__file__).with_name("requirements-engine.txt")
PEERS = ROOT / ".local" / "bench-engine"
OURS = "turnstone"
NATIVE = "turnstone_native"
BASE = "openai_sdk"
PROGRAMS = (
    BASE,
    OURS,
    NATIVE,
    "openai_sdk_text",
    "raw_httpx",
    "langchain_agent",
    "pydantic_ai_agent",
    "smolagents_agent",
)
AIMS = {20: 0.6, 60: 0.35}
"""Tool turns of a run, and the most that ours may cost of what the bare SDK costs."""
NATIVE_AIMS = {20: 0.3, 60: 0.17}
"""The same for ours with native calls."""
ROUNDS = 5


@dataclass(frozen=True)
class Run:
    """One run of one program: CPU seconds, and what proves that it did the work."""

    cpu: float
    wall: float
    deltas: int
    tools: int


@dataclass(frozen=True)
class Cost:
    """What a turn cost: milliseconds of CPU and of time, and the CPU as a part of the base's."""

    cpu: float
    wall: float
    ratio: float

    @classmethod
    def of(cls, runs: list[Run], base: list[Run], turns: int) -> "Cost":
        """Return the medians; each run is compared with the base's of its own round."""
        return cls(
            1000 * statistics.median(run.cpu for run in runs) / (turns + 1),
            1000 * statistics.median(run.wall for run in runs) / (turns + 1),
            statistics.median(run.cpu / its.cpu for run, its in zip(runs, base, strict=True)),
        )


def main() -> None:
    """Print the figures."""
    rounds = int(os.environ.get("ROUNDS") or ROUNDS)
    python = peers()
    with ExitStack() as stack:
        server = stack.enter_context(process(sys.executable, "server"))
        url = json.loads(line_of(server))["url"]
        programs = {
            name: stack.enter_context(
                process(sys.executable if name in (OURS, NATIVE) else str(python), name)
            )
            for name in PROGRAMS
        }
        for name, program in programs.items():
            ready = json.loads(line_of(program))
            print(f"{name:18} imported in {ready['import_cpu']:.2f} s of CPU", flush=True)
        for turns in AIMS:
            measure(programs, url, turns, rounds)


def measure(programs: dict[str, subprocess.Popen[str]], url: str, turns: int, rounds: int) -> None:
    """Run every program `rounds` times in turn, and print what a turn cost."""
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, program in programs.items():
            run = once(name, program, url, turns)
            if number > 0:
                runs[name].append(run)
    print(f"\n{turns} tool turns and the answer, {rounds} rounds, load {os.getloadavg()[0]:.1f}")
    costs = {name: Cost.of(done, runs[BASE], turns) for name, done in runs.items()}
    for name, cost in costs.items():
        print(
            f"{name:18} {cost.cpu:7.2f} ms of CPU a turn, {cost.wall:7.2f} ms of time, "
            f"{cost.ratio:5.2f} of the bare SDK, {runs[name][-1].deltas} pieces of text"
        )
    ours = costs.pop(OURS)
    for name, peer in costs.items():
        print(f"FIGURE engine_cpu_{turns} {ours.cpu:.2f} ms vs {name} {peer.cpu:.2f}")
    for name, peer in costs.items():
        print(f"FIGURE engine_ratio_{turns} {ours.ratio:.2f} x vs {name} {peer.ratio:.2f}")
    print(f"FIGURE engine_ratio_{turns} {ours.ratio:.2f} x vs aim {AIMS[turns]}")
    native, aim = costs[NATIVE], NATIVE_AIMS[turns]
    print(f"FIGURE engine_native_cpu_{turns} {native.cpu:.2f} ms vs {BASE} {costs[BASE].cpu:.2f}")
    print(f"FIGURE engine_native_ratio_{turns} {native.ratio:.2f} x vs aim {aim}", flush=True)


def once(name: str, program: subprocess.Popen[str], url: str, turns: int) -> Run:
    """Let a program do one run; raises SystemExit for one that did not do the work."""
    assert program.stdin is not None
    program.stdin.write(json.dumps({"url": url, "turns": turns}) + "\n")
    program.stdin.flush()
    done: dict[str, Any] = json.loads(line_of(program))
    wanted = str(turns)
    if done["error"] or wanted not in str(done["answer"]) or done["tools"] < turns:
        raise SystemExit(f"{name} did not do the work: {done}")
    return Run(done["cpu"], done["wall"], done["deltas"], done["tools"])


def process(python: str, name: str) -> subprocess.Popen[str]:
    """Start a driver in an environment of its own, so that no key and no proxy has a part in it."""
    return subprocess.Popen(
        [python, str(DRIVERS / f"{name}.py")],
        cwd=ROOT,
        env={
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(PEERS),
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_KEY": "x",
            "OTEL_SDK_DISABLED": "true",
            "LANGSMITH_TRACING": "false",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(program: subprocess.Popen[str]) -> str:
    """Return the next line that a driver says; raises SystemExit when it is gone."""
    assert program.stdout is not None
    line = program.stdout.readline()
    if not line:
        raise SystemExit(f"{program.args!r} ended with status {program.wait()}.")
    return line


def peers() -> Path:
    """Return the Python of the peers' environment; make it when it is missing or out of date."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / REQUIREMENTS.name
    if not stamp.is_file() or stamp.read_bytes() != REQUIREMENTS.read_bytes():
        print("Making the environment of the peers; this is done once.", flush=True)
        venv.create(PEERS, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*install, "--only-binary", ":all:", "-r", str(REQUIREMENTS)], check=True)
        stamp.write_bytes(REQUIREMENTS.read_bytes())
    return python


if __name__ == "__main__":
    main()
