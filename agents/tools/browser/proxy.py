"""The one way out for a browser: a proxy that connects only to servers within reach.

A browser follows redirects, looks up names and opens sockets on its own; checking its requests
from outside would miss some of them. Here every connection, of whatever kind, is checked, and made
to the checked address itself.
"""

import re
import select
import socket
import socketserver
import threading
import time
from collections.abc import Iterable
from typing import Self

from agents.errors import ToolFailed
from agents.tools.web.address import Reach, port_of, web_url

_HEAD = 64_000
_CONNECT_SECONDS = 8.0
_SILENT_SECONDS = 60.0
_CHUNK = 65_536
_LOOK_SECONDS = 0.25
"""Seconds between two looks whether the browser is gone; no run waits here."""
_NOT_PASSED_ON = (b"proxy-", b"connection:", b"keep-alive:")


class GuardedProxy:
    """A proxy on this machine for one browser, from `with` to its end."""

    def __init__(self, reach: Reach) -> None:
        self._server = _Server(reach)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever,
            args=(_LOOK_SECONDS,),
            name="browser-proxy",
            daemon=True,
        ).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), _Passage)


class _Passage(socketserver.BaseRequestHandler):
    """One connection of the browser."""

    server: _Server
    request: socket.socket

    def handle(self) -> None:
        self.request.settimeout(_CONNECT_SECONDS)
        try:
            head, rest = _head(self.request)
            upstream, first = self._opened(head)
        except ToolFailed as refusal:
            self._refuse("403 Forbidden", str(refusal))
        except (OSError, ValueError):
            self._refuse("502 Bad Gateway", "The server could not be reached.")
        else:
            with upstream:
                self._pass_on(upstream, first + rest)

    def _opened(self, head: bytes) -> tuple[socket.socket, bytes]:
        """Return a connection to where the head asks for, and what to send there first."""
        line, *headers = head.split(b"\r\n")
        method, target, version = line.decode("latin-1").split(" ")
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            upstream = self._connect(host, int(port))
            self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            return upstream, b""
        url = web_url(target)
        if url.scheme != "http":
            raise ToolFailed("Only web pages are passed on.")
        kept = [h for h in headers if not h.lower().startswith(_NOT_PASSED_ON)]
        lines = [f"{method} {url.raw_path.decode('ascii')} {version}".encode("latin-1"), *kept]
        first = b"\r\n".join([*lines, b"Connection: close", b"", b""])
        return self._connect(url.host, port_of(url)), first

    def _connect(self, host: str, port: int) -> socket.socket:
        failure: OSError = OSError("no address")
        for address in self.server.reach.addresses(host, port)[:4]:
            try:
                return socket.create_connection((address, port), _CONNECT_SECONDS)
            except OSError as error:
                failure = error
        raise failure

    def _pass_on(self, upstream: socket.socket, first: bytes) -> None:
        """Carry bytes both ways until a side hangs up, is long silent, or the browser is gone."""
        other = {self.request: upstream, upstream: self.request}
        last = time.monotonic()
        try:
            upstream.sendall(first)
            while not self.server.over.is_set() and time.monotonic() - last < _SILENT_SECONDS:
                for side in _readable(other):
                    last = time.monotonic()
                    chunk = side.recv(_CHUNK)
                    if not chunk:
                        return
                    other[side].sendall(chunk)
        except OSError:
            return

    def _refuse(self, status: str, reason: str) -> None:
        body = reason.encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        try:
            self.request.sendall(head.encode() + body)
        except OSError:
            return


def _readable(sockets: Iterable[socket.socket]) -> list[socket.socket]:
    poll = select.poll()
    by_number = {side.fileno(): side for side in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(_LOOK_SECONDS * 1000)]


def _head(connection: socket.socket) -> tuple[bytes, bytes]:
    """Return the first request's head without its last empty line, and what came behind it."""
    read = b""
    while b"\r\n\r\n" not in read:
        chunk = connection.recv(_CHUNK)
        if not chunk or len(read) > _HEAD:
            raise ValueError("That is no request.")
        read += chunk
    head, _, rest = read.partition(b"\r\n\r\n")
    if re.search(rb"[\x00]", head):
        raise ValueError("That is no request.")
    return head, rest
