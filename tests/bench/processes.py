"""The processes of a bench: start them, talk to them line by line, and see what they cost."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60

Process = subprocess.Popen[str]


@contextmanager
def worker(environment: Mapping[str, str], script: Path, *arguments: str) -> Iterator[Process]:
    """Start a script that is talked to, and wait until it says that it is up."""
    process = popen((sys.executable, str(script), *arguments), environment, pipes=True)
    try:
        expect(process, "up")
        yield process
    finally:
        end(process)


@contextmanager
def running(
    command: tuple[str, ...], environment: Mapping[str, str], folder: Path = ROOT
) -> Iterator[Process]:
    """Run a server for the length of a block."""
    process = popen(command, environment, folder=folder)
    try:
        yield process
    finally:
        end(process)


def popen(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    *,
    pipes: bool = False,
    folder: Path = ROOT,
) -> Process:
    """Start a process of ours; what servers say is of no use here."""
    pipe = subprocess.PIPE if pipes else subprocess.DEVNULL
    quiet = None if pipes else subprocess.DEVNULL
    return subprocess.Popen(
        command, env=environment, cwd=folder, stdin=pipe, stdout=pipe, stderr=quiet, text=True
    )


def end(process: Process) -> None:
    """End a process that we started, and its children."""
    children = (
        psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    )
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in children:
        if child.is_running():
            child.kill()


def say(process: Process, line: str) -> None:
    """Write a line to a process."""
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def heard(process: Process) -> str:
    """Return the next line that a process says; raises SystemExit when it is gone."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        sys.exit(f"{process.args!r} ended with status {process.wait()}.")
    return line.strip()


def expect(process: Process, word: str) -> None:
    """Wait for a process to say a word; raises SystemExit when it says another."""
    line = heard(process)
    if line != word:
        sys.exit(f"{process.args!r} said {line!r} where {word!r} was expected.")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its children."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(time.user + time.system for time in times)


def wait_until_listening(port: int, server: Process) -> None:
    """Wait until a server takes connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{server.args!r} did not start.")
            time.sleep(0.05)
        else:
            return


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def call(environment: Mapping[str, str], script: str | Path, *arguments: str) -> str:
    """Run a script to its end and return the last line it said."""
    command = (sys.executable, str(script), *arguments)
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip().rpartition("\n")[2]
