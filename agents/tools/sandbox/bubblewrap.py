"""Run a stranger's Python in bubblewrap: no network, no host files, no secrets, few resources.

The command and the leaks it closes were measured, see docs/decisions.md. Bubblewrap itself is
started without our environment, because it is process 1 inside and its environment is readable
there; and without our user when that is root, because limits do not bind root. It gives what it
starts a filter of system calls, and the memory of all that is inside is watched from here.
"""

import contextlib
import copy
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.control import Control
from agents.cores import roaming
from agents.errors import AgentError, ConfigurationError, ToolFailed
from agents.tools.sandbox.filter import filter_program
from agents.tools.sandbox.memory import Watch
from agents.tools.sandbox.process import outcome

_NOBODY = 65534
_WORK, _WORK_BYTES = "/w", 64 * 1024 * 1024
_TOTAL_BYTES = 640 * 1024 * 1024
"""The most memory of all processes and files together: one process's limit, the files, and some."""

_PATH = "/usr/bin:/bin"
_PLACES = threading.BoundedSemaphore(16)
"""Sandboxes of this process at one time: each may fill its memory limit."""

_DRIVER = Path(__file__).with_name("driver.py").read_text(encoding="utf-8")
_PROBE = Path(__file__).with_name("probe.py").read_text(encoding="utf-8")
_PROBED_BYTES = 64 * 1024 * 1024
_TOO_MUCH = {
    "processes": """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = b"x" * 20_000_000
        time.sleep(3)
time.sleep(3)
""",
    "files": """
import time
for number in range(6):
    open(str(number), "wb").write(b"x" * 10_000_000)
time.sleep(3)
""",
}
"""What goes beyond the probe's total, though no process and no file of it is large by itself."""


class Bubblewrap:
    """A sandbox of Linux namespaces around the Python interpreter at `python`.

    `cpu_seconds` is the processor time of each process in it, `total_bytes` the memory of all of
    them and of their files together.
    """

    name = "bubblewrap"
    provides = "The standard library is there; network, files of the host and packages are not."

    def __init__(
        self, python: Path, cpu_seconds: int = 10, total_bytes: int = _TOTAL_BYTES
    ) -> None:
        self.python = python.resolve()
        self.cpu_seconds = cpu_seconds
        self.total_bytes = total_bytes

    @classmethod
    def candidates(cls) -> Iterator["Bubblewrap"]:
        """Yield a sandbox for each interpreter of this machine; none where bwrap is missing."""
        paths = [Path("/usr/bin/python3"), Path("/usr/local/bin/python3")]
        paths.append(Path(sys.base_prefix, "bin", "python3"))
        if shutil.which("bwrap", path=_PATH):
            for path in dict.fromkeys(path.resolve() for path in paths if path.exists()):
                yield cls(path)

    def run(self, code: str, control: Control) -> Iterator[str]:
        """Yield what the code prints; raises ToolFailed with the code's error, and Halted."""
        while not _PLACES.acquire(timeout=0.1):
            control.check()
        try:
            yield from self._run(code, control)
        finally:
            _PLACES.release()

    def prove(self) -> None:
        """Try to break out, and to take too much; raises ConfigurationError naming what went."""
        self._prove_closed()
        self._prove_bounded()

    def _prove_closed(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            port = listener.getsockname()[1]
            code = f"PORT = {port}\nHOST_FILE = {__file__!r}\n{_PROBE}"
            try:
                found = "".join(self.run(code, Control(seconds=30))).strip()
            except (AgentError, OSError, subprocess.SubprocessError) as error:
                raise ConfigurationError(f"bubblewrap does not work here ({error})") from error
            with contextlib.suppress(BlockingIOError):
                listener.accept()
                found += " network reached"
        if found != "closed":
            raise ConfigurationError(f"bubblewrap is not tight here ({found[:300]})")

    def _prove_bounded(self) -> None:
        small = copy.copy(self)
        small.total_bytes = _PROBED_BYTES
        for what, code in _TOO_MUCH.items():
            told = ""
            try:
                list(small.run(code, Control(seconds=30)))
            except ToolFailed as error:
                told = str(error)
            except (AgentError, OSError, subprocess.SubprocessError) as error:
                told = type(error).__name__
            if "took more than" not in told:
                raise ConfigurationError(f"bubblewrap does not bound {what} here ({told[:300]})")

    def _run(self, code: str, control: Control) -> Iterator[str]:
        as_nobody: dict[str, Any] = {}
        if os.geteuid() == 0:
            as_nobody = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        calls = filter_program()
        with (
            roaming(),
            _given(code.encode("utf-8", "replace")) as given,
            _given(calls) as filtering,
        ):
            process = subprocess.Popen(  # noqa: S603 - fixed words; the code comes by standard input
                self.command(filtering),
                stdin=given,
                pass_fds=(filtering,),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": _PATH},
                cwd="/",
                umask=0o077,
                start_new_session=True,
                **as_nobody,
            )
        watch = Watch(process.pid, _WORK, _WORK_BYTES, self.total_bytes)
        yield from outcome(process, control, watch)

    def command(self, filtering: int) -> list[str]:
        """Return the whole command; the code is read from its standard input.

        `filtering` is the open file with the filter of system calls.
        """
        return [
            *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns"),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"),
            *("--uid", str(_NOBODY), "--gid", str(_NOBODY)),
            *("--clearenv", "--setenv", "PATH", _PATH, "--setenv", "HOME", _WORK),
            *("--seccomp", str(filtering)),
            *self._mounts(),
            # /dev/zero can be mapped into memory that nobody could count; /dev/full reads alike.
            *("--proc", "/proc", "--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero"),
            *("--remount-ro", "/dev", "--size", str(_WORK_BYTES), "--tmpfs", _WORK),
            *("--symlink", _WORK.lstrip("/"), "/tmp"),  # noqa: S108
            *("--remount-ro", "/", "--chdir", _WORK),
            *(str(self.python), "-I", "-X", "utf8", "-c", _DRIVER, str(self.cpu_seconds)),
        ]

    def _mounts(self) -> Iterator[str]:
        """Yield the read-only mounts: the interpreter and the libraries, nothing else of /usr."""
        prefix = self.python.parents[1]
        libraries = [Path(top, lib) for top in ("/usr", prefix) for lib in ("lib", "lib64")]
        extra = [Path("/usr/share/zoneinfo"), Path("/etc/ld.so.cache")]
        for path in dict.fromkeys([self.python, *libraries, *extra]):
            yield from ("--ro-bind-try", str(path), str(path))
        for name in ("lib", "lib64"):
            if Path("/", name).is_symlink():
                yield from ("--symlink", f"usr/{name}", f"/{name}")
            else:
                yield from ("--ro-bind-try", f"/{name}", f"/{name}")


@contextlib.contextmanager
def _given(content: bytes) -> Iterator[int]:
    """Hold an open file in memory that is read from its beginning."""
    with os.fdopen(os.memfd_create("given"), "w+b") as file:
        file.write(content)
        file.flush()
        file.seek(0)
        yield file.fileno()
