"""A model server of our own that answers with exactly these bytes, and breaks rules."""

import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import Any


class Then(Enum):
    """What a connection does besides sending bytes."""

    HOLD = "say nothing until the other side hangs up"
    CUT = "reset the connection"
    CLOSE = "close the connection in good order"


Step = bytes | Then | Iterator[bytes]


class Wire:
    """A server that answers the requests, in order, with exactly these bytes and faults.

    The last answer repeats. What a provider asks about a model is in `questions`, and no request.
    `asked` is released once per request; `gone` is set when the other side hangs up while it is
    held or sent to.
    """

    HOLD = Then.HOLD
    CUT = Then.CUT
    CLOSE = Then.CLOSE
    STREAM = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    OPEN_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    """A stream that ends with the connection."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self._answers: list[tuple[Step, ...]] = []
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._about: dict[str, bytes] = {}
        self.questions: list[str] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.connections = 0
        self.asked = threading.Semaphore(0)
        self.gone = threading.Event()
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.base_url = f"{'https' if tls else 'http'}://{self.place}/v1"
        threading.Thread(target=self._listen, daemon=True).start()

    @staticmethod
    def part(content: bytes) -> bytes:
        """Frame bytes as one chunk of a stream."""
        return b"%x\r\n%s\r\n" % (len(content), content)

    @classmethod
    def event(cls, data: object) -> bytes:
        text = data if isinstance(data, str) else json.dumps(data)
        return cls.part(f"data: {text}\n\n".encode())

    @classmethod
    def says(cls, text: str) -> bytes:
        return cls.event({"choices": [{"index": 0, "delta": {"content": text}}]})

    @classmethod
    def ends(cls) -> bytes:
        """End a stream as the protocol wants it."""
        finish = cls.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return finish + cls.event("[DONE]") + b"0\r\n\r\n"

    @staticmethod
    def page(status: str, body: str, *headers: str) -> bytes:
        """Write a whole answer with its length."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", *headers, "", body]
        return "\r\n".join(lines).encode()

    def tells(self, path: str, body: str, status: str = "200 OK") -> None:
        """Answer a question about a model at this path so, each time; 404 to all others."""
        self._about[path] = self.page(status, body)

    def answers(self, *steps: Step) -> None:
        self._answers.append(steps)

    def close(self) -> None:
        """Answer nobody any more, not on a connection either that somebody has kept.

        The next server may get the same port, and would be asked on that connection.
        """
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with self._lock:
                self._open.add(connection)
            while self._answer(connection):
                pass
        except OSError:
            self.gone.set()
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _answer(self, connection: socket.socket) -> bool:
        """Answer one request; tell whether the connection stays open for another."""
        request = _request(connection)
        if request is None:
            return False
        if (found := self._told(request)) is not None:
            connection.sendall(found)
            return True
        with self._lock:
            self.requests.append(request)
            steps = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self.asked.release()
        for step in steps:
            if isinstance(step, Then):
                self._then(step, connection)
                return False
            for piece in (step,) if isinstance(step, bytes) else step:
                connection.sendall(piece)
        return True

    def _told(self, request: tuple[str, dict[str, Any]]) -> bytes | None:
        """Return the answer to a question about a model, None for any other request."""
        method, path, *_ = request[0].split(" ")
        is_probe = "turnstone" not in request[0]
        if is_probe or (method == "POST" and not path.endswith("/api/show")):
            return None
        with self._lock:
            self.questions.append(path)
        return self._about.get(path, self.page("404 Not Found", "{}"))

    def _then(self, step: Then, connection: socket.socket) -> None:
        if step is Then.HOLD and not connection.recv(1):
            self.gone.set()
        if step is Then.CUT:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _request(connection: socket.socket) -> tuple[str, dict[str, Any]] | None:
    """Read one request: its head and what its body says."""
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65536)
        if not piece:
            return None
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65536)
    return head.decode("latin-1"), json.loads(body or b"{}")
