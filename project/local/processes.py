"""Child processes that never outlive their launcher, and whose words reach the terminal.

On Linux the kernel signals a child whose launcher dies, however it dies. Elsewhere the next start
ends what was left (`end_orphan`).
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Program:
    """What to run: `stop_with` asks it to end, `when_orphaned` is sent when the launcher dies.

    Its output goes to the file `log`, or line by line to whoever starts it. It inherits the open
    `descriptors` and no other.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] | None = None
    stop_with: signal.Signals = signal.SIGTERM
    when_orphaned: signal.Signals = signal.SIGKILL
    log: Path | None = None
    descriptors: tuple[int, ...] = ()


class Child:
    """A running program in its own session, so that a Ctrl-C reaches only the launcher."""

    def __init__(self, program: Program, process: subprocess.Popen[bytes]) -> None:
        self.program = program
        self.name = program.name
        self.pid = process.pid
        self._process = process

    @property
    def code(self) -> int | None:
        """Return the exit code, None while it runs, minus the signal if one ended it."""
        return self._process.poll()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end and tell whether it came in time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ask_to_stop(self) -> None:
        """Send the program its stop signal."""
        if self.code is None:
            os.kill(self.pid, self.program.stop_with)

    def kill(self) -> None:
        """End it and everything it started in its session, without asking."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def obituary(self) -> str:
        """Say how it ended."""
        code = self.code
        if code is None:
            return f"{self.name} is still running"
        if code < 0:
            return f"{self.name} was ended by {signal.Signals(-code).name}"
        return f"{self.name} ended by itself with exit code {code}"


def start(program: Program, say: Callable[[str, str], None]) -> Child:
    """Start a program; each line it writes becomes `say(name, line)`, unless it has a log file.

    Call it from the main thread: Linux ties a child's life to the thread that made it.
    """
    if program.log is not None:
        with program.log.open("wb") as log:
            return Child(program, _spawn(program, log.fileno()))
    process = _spawn(program, subprocess.PIPE)
    threading.Thread(target=_relay, args=(program.name, process, say), daemon=True).start()
    return Child(program, process)


def stop(children: Iterable[Child], patience: float) -> list[str]:
    """Ask all to stop, wait `patience` seconds in all, kill the rest and return their names."""
    living = [child for child in children if child.code is None]
    for child in living:
        child.ask_to_stop()
    deadline = time.monotonic() + patience
    late = [child for child in living if not child.wait(max(0.0, deadline - time.monotonic()))]
    for child in living:
        child.kill()
    return [child.name for child in late]


def end_orphan(pid_file: Path, folder: Path, stop_with: signal.Signals, patience: float) -> None:
    """End the process that `pid_file` names if it still works in `folder`, then forget the file.

    A file left by a crash may name a process of somebody else by now; that one is left alone.
    """
    try:
        process = psutil.Process(int(pid_file.read_text().split()[0]))
        if Path(process.cwd()).resolve() == folder.resolve():
            process.send_signal(stop_with)
            with contextlib.suppress(psutil.TimeoutExpired):
                process.wait(patience)
                return
            process.kill()
            process.wait(patience)
    except (FileNotFoundError, ValueError, IndexError, psutil.Error):
        pass
    pid_file.unlink(missing_ok=True)


def _spawn(program: Program, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        program.command,
        cwd=program.folder,
        env=program.environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=program.descriptors,
        preexec_fn=_leash(program.when_orphaned),
    )


def _leash(when_orphaned: signal.Signals) -> Callable[[], None] | None:
    if _libc is None:
        return None
    launcher = os.getpid()

    def tie() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, int(when_orphaned), 0, 0, 0)
        if os.getppid() != launcher:
            os._exit(1)

    return tie


def _relay(name: str, process: subprocess.Popen[bytes], say: Callable[[str, str], None]) -> None:
    if process.stdout is not None:
        for line in process.stdout:
            say(name, line.decode(errors="replace").rstrip())
