"""Run a stranger's Python in bubblewrap: no network, no host files, no secrets, few resources.

The command and the leaks it closes were measured, see docs/decisions.md. Bubblewrap itself is
started without our environment, because it is process 1 inside and its environment is readable
there; and without our user when that is root, because limits do not bind root.
"""

import contextlib
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
from agents.errors import AgentError, ConfigurationError
from agents.tools.sandbox_process import outcome

_NOBODY = 65534
_WORK_BYTES = 64 * 1024 * 1024
_PATH = "/usr/bin:/bin"
_PLACES = threading.BoundedSemaphore(16)
"""Sandboxes of this process at one time: each may fill its memory limit."""

_DRIVER = Path(__file__).with_name("sandbox_driver.py").read_text(encoding="utf-8")
_PROBE = Path(__file__).with_name("sandbox_probe.py").read_text(encoding="utf-8")


class Bubblewrap:
    """A sandbox of Linux namespaces around the Python interpreter at `python`.

    `cpu_seconds` is the processor time of each process in it.
    """

    name = "bubblewrap"
    provides = "The standard library is there; network, files of the host and packages are not."

    def __init__(self, python: Path, cpu_seconds: int = 10) -> None:
        self.python = python.resolve()
        self.cpu_seconds = cpu_seconds

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
        """Try to break out; raises ConfigurationError naming what was not closed."""
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

    def _run(self, code: str, control: Control) -> Iterator[str]:
        as_nobody: dict[str, Any] = {}
        if os.geteuid() == 0:
            as_nobody = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        with roaming(), os.fdopen(os.memfd_create("code"), "w+b") as given:
            given.write(code.encode("utf-8", "replace"))
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603 - fixed words; the code comes by standard input
                self.command(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": _PATH},
                cwd="/",
                umask=0o077,
                start_new_session=True,
                **as_nobody,
            )
        yield from outcome(process, control)

    def command(self) -> list[str]:
        """Return the whole command; the code is read from its standard input."""
        return [
            *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns"),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"),
            *("--uid", str(_NOBODY), "--gid", str(_NOBODY)),
            *("--clearenv", "--setenv", "PATH", _PATH, "--setenv", "HOME", "/w"),
            *self._mounts(),
            *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"),
            *("--size", str(_WORK_BYTES), "--tmpfs", "/w", "--symlink", "w", "/tmp"),  # noqa: S108
            *("--remount-ro", "/", "--chdir", "/w"),
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
