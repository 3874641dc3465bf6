"""A TCP proxy in front of Postgres or Redis, to make it slow, mute or gone for a while."""

import socket
import threading
import time
from contextlib import suppress
from typing import Self

Address = str | tuple[str, int]
"""The path of a socket, or a host and a port."""


class Proxy:
    """Pass bytes on to `target`; what goes wrong on the way is said by the test."""

    def __init__(self, target: Address) -> None:
        self._target = target
        self._flows = threading.Event()
        self._flows.set()
        self._is_gone = False
        self._delay = 0.0
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut()
        self._flows.set()

    def slow_down(self, seconds: float) -> None:
        """Let everything take so much longer, each way."""
        self._delay = seconds

    def hang(self) -> None:
        """Take everything and pass nothing on, as a frozen server does."""
        self._flows.clear()

    def cut(self) -> None:
        """Break every connection and refuse new ones, as a server does that went down."""
        self._is_gone = True
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def heal(self) -> None:
        """Let everything pass again."""
        self._delay, self._is_gone = 0.0, False
        self._flows.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._is_gone:
                near.close()
                continue
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        family = socket.AF_UNIX if isinstance(self._target, str) else socket.AF_INET
        far = socket.socket(family)
        try:
            far.connect(self._target)
        except OSError:
            near.close()
            return
        self._sockets |= {near, far}
        back = threading.Thread(target=self._pump, args=(far, near), daemon=True)
        back.start()
        self._pump(near, far)
        back.join()
        self._sockets -= {near, far}
        near.close()
        far.close()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                time.sleep(self._delay)
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
