"""A web process alone, as tests of what any stranger may send want it."""

import os
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from project.local import programs
from project.local.processes import Child, start, stop


class Web:
    """A web process with one of the servers, and where it listens."""

    def __init__(self, log: Path, server: str = "daphne") -> None:
        self._log = log
        self._listens = socket.create_server(("127.0.0.1", 0))
        descriptor = self._listens.fileno()
        program = programs.web(
            ("--fd", str(descriptor)), {**os.environ, "TURNSTONE_SERVER": server}
        )
        self.child: Child = start(
            replace(program, descriptors=(descriptor,), log=log), lambda name, line: None
        )

    def connect(self) -> socket.socket:
        """Return a connection to it."""
        return socket.create_connection(self._listens.getsockname(), timeout=30)

    def get(self, path: str) -> bytes:
        """Return the whole answer to a request."""
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        with self.connect() as line:
            line.sendall(head.encode())
            return read_all(line)

    def log(self) -> str:
        """Return what it has written."""
        return self._log.read_text()

    def memory(self) -> int:
        """Return how many bytes it holds in memory."""
        return int(psutil.Process(self.child.pid).memory_info().rss)

    def stop(self) -> None:
        """End it."""
        stop([self.child], patience=10)
        self._listens.close()


def read_all(line: socket.socket) -> bytes:
    """Read until the server has said all, or cut off."""
    answer = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            answer += part
    return answer
