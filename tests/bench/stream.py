"""Measure the live path beside the raw floor and Chainlit, interleaved, and print figures.

`make bench-stream`, with N= (sockets, "50,200,500") and ROUNDS= (3; figures are medians). Each
socket gets 200 tokens at 50 a second. Ours is the whole path behind the model: our publisher in a
worker's process, Valkey, each web server with the whole ASGI application, real sessions. The floor
is Redis pub/sub relayed by a bare `websockets` server, a frame a token. Chainlit makes its tokens
in its web process, so its CPU holds the making too and its delay no hop. CPU is that of the server.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from project.local import programs  # noqa: E402
from project.local.throwaway import throwaway  # noqa: E402
from tests.bench.processes import (  # noqa: E402
    Process,
    call,
    cpu_seconds,
    end,
    expect,
    free_port,
    popen,
    running,
    say,
    wait_until_listening,
    worker,
)

HERE = Path(__file__).parent
PARTS = HERE / "streaming"
CHAINLIT = ROOT / ".local" / "bench-chainlit"
SOCKETS = [int(n) for n in os.environ.get("N", "50,200,500").split(",")]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SERVERS = ("daphne", "uvicorn")
TOKENS = 200
RATE = 50

Figures = dict[str, float]


def main() -> None:
    """Measure round by round, then print the medians."""
    found: dict[tuple[int, str], list[Figures]] = {}
    chainlit = chainlit_python()
    with throwaway() as services:
        environment = os.environ | services | {"PYTHONPATH": str(ROOT)}
        environment["DJANGO_SETTINGS_MODULE"] = "project.settings"
        call(environment, "manage.py", "migrate", "-v0")
        for round_number in range(ROUNDS):
            for count in SOCKETS:
                measures = {name: partial(turnstone, name) for name in SERVERS} | {"floor": floor}
                for name, measure in measures.items():
                    keep(found, count, name, round_number, measure(environment, count))
                if chainlit is not None:
                    figures = peer(environment, count, chainlit)
                    keep(found, count, "chainlit", round_number, figures)
    for count in SOCKETS:
        report(count, {name: middle(rows) for (n, name), rows in found.items() if n == count})


def keep(
    found: dict[tuple[int, str], list[Figures]], count: int, name: str, number: int, row: Figures
) -> None:
    """Take a row and print it."""
    found.setdefault((count, name), []).append(row)
    shown = " ".join(f"{key}={value:.4g}" for key, value in row.items())
    print(f"round {number + 1} N={count} {name}: {shown}", flush=True)


def middle(rows: list[Figures]) -> Figures:
    """Return the median of each figure; of the lost, the worst."""
    figures = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    return figures | {"lost": max(row["lost"] for row in rows)}


def report(count: int, rows: dict[str, Figures]) -> None:
    """Print the lines that other programs read."""
    wanted = count * RATE
    units = {"delivered": "tokens/s", "p50": "ms", "p99": "ms", "lost": "tokens", "cpu": "s/1000"}
    for server in SERVERS:
        ours, name = rows[server], f"stream_{count}_{server}"
        print(f"FIGURE {name}_held {ours['delivered']:.0f} tokens/s vs sent {wanted}")
        for key, unit in units.items():
            for other, theirs in rows.items():
                if other != server:
                    value = f"{ours[key]:.4g} {unit} vs {other} {theirs[key]:.4g}"
                    print(f"FIGURE {name}_{key} {value}")


def turnstone(server_name: str, environment: Mapping[str, str], count: int) -> Figures:
    """Measure our whole path on one of the web servers."""
    environment = {**environment, "TURNSTONE_SERVER": server_name}
    rows = json.loads(call(environment, PARTS / "prepare.py", str(count)))
    targets = [
        {
            "path": f"/ws/conversations/{conversation}/",
            "headers": [f"Cookie: sessionid={session}"],
            "hello": json.dumps({"type": "hello", "cursors": {run: "1-0"}, "after": run}),
        }
        for conversation, run, session in rows
    ]
    runs = [str(run) for _, run, _ in rows]
    port = free_port()
    command = programs.web(("--host", "127.0.0.1", "--port", str(port)), environment).command
    with (
        running(command, environment) as server,
        worker(environment, PARTS / "worker.py", str(TOKENS), str(RATE), *runs) as producer,
    ):
        return measure("turnstone", port, targets, server, producer, environment)


def floor(environment: Mapping[str, str], count: int) -> Figures:
    """Measure the least that Redis, Python and WebSockets can do it with."""
    runs = [str(run) for run in range(count)]
    port = free_port()
    command = (sys.executable, str(PARTS / "floor.py"), "serve", str(port))
    with (
        running(command, environment) as server,
        worker(environment, PARTS / "floor.py", "say", str(TOKENS), str(RATE), *runs) as producer,
    ):
        targets = [{"path": f"/{run}"} for run in runs]
        return measure("floor", port, targets, server, producer, environment)


def peer(environment: Mapping[str, str], count: int, python: Path) -> Figures:
    """Measure Chainlit."""
    port = free_port()
    app = str(PARTS / "chainlit_app.py")
    options = ("--headless", "--host", "127.0.0.1", "--port", str(port))
    # It would store what it says in a database that it is told of.
    load = {key: value for key, value in environment.items() if key != "DATABASE_URL"}
    load |= {"TOKENS": str(TOKENS), "RATE": str(RATE)}
    command = (str(python), "-m", "chainlit", "run", app, *options)
    with running(command, load, CHAINLIT) as server:
        targets = [{"path": "/ws/socket.io/?EIO=4&transport=websocket"}] * count
        return measure("chainlit", port, targets, server, None, environment)


def measure(
    dialect: str,
    port: int,
    targets: list[dict[str, Any]],
    server: Process,
    producer: Process | None,
    environment: Mapping[str, str],
) -> Figures:
    """Connect all sockets, start the tokens, and return the figures of one run."""
    wait_until_listening(port, server)
    client = popen((sys.executable, str(PARTS / "client.py")), environment, pipes=True)
    order = {"dialect": dialect, "port": port, "tokens": TOKENS, "targets": targets}
    try:
        say(client, json.dumps(order))
        expect(client, "ready")
        before = cpu_seconds(server.pid)
        say(client, "go")
        if producer is not None:
            say(producer, "go")
        assert client.stdout is not None
        figures: Figures = json.loads(client.stdout.readline())
        used = cpu_seconds(server.pid) - before
    finally:
        end(client)
    return figures | {"cpu": used / max(figures["got"], 1) * 1000}


def chainlit_python() -> Path | None:
    """Return the Python of Chainlit's environment, made if need be; None if it cannot be had."""
    python = CHAINLIT / "bin" / "python"
    pinned = (HERE / "requirements-chainlit.txt").read_text()
    stamp = CHAINLIT / "requirements.txt"
    if stamp.exists() and stamp.read_text() == pinned:
        return python
    print("Installing Chainlit into .local/bench-chainlit", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(CHAINLIT)], check=True)
        install = ("-m", "pip", "install", "-q", "-r", str(HERE / "requirements-chainlit.txt"))
        subprocess.run([python, *install], check=True)
    except subprocess.CalledProcessError as error:
        print(f"Chainlit is left out, it cannot be installed: {error}", flush=True)
        return None
    stamp.write_text(pinned)
    return python


if __name__ == "__main__":
    main()
