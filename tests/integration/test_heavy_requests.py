"""What anybody may send is bounded before it is looked at, by the real server."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from project import programs
from project.processes import Child, start, stop

MB = 1_000_000
BODY = 200 * MB
PIECE = b"a" * MB
HEAD = (
    "POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n{}\r\n\r\n"
)


class Web:
    """Daphne, and where it listens."""

    def __init__(self, log: Path) -> None:
        self._listens = socket.create_server(("127.0.0.1", 0))
        descriptor = self._listens.fileno()
        program = programs.web(("--fd", str(descriptor)), os.environ)
        self.child: Child = start(
            replace(program, descriptors=(descriptor,), log=log), lambda name, line: None
        )

    def connect(self) -> socket.socket:
        """Return a connection to it."""
        return socket.create_connection(self._listens.getsockname(), timeout=30)

    def memory(self) -> int:
        """Return how many bytes it holds in memory."""
        return int(psutil.Process(self.child.pid).memory_info().rss)

    def stop(self) -> None:
        """End it."""
        stop([self.child], patience=10)
        self._listens.close()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Start Daphne alone."""
    made = Web(tmp_path_factory.mktemp("web") / "web.log")
    with made.connect() as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"alive" in _read(line)
    yield made
    made.stop()


@pytest.mark.parametrize("way", ["with its length", "in chunks"])
def test_a_strangers_huge_body_is_refused_in_words_and_takes_no_memory(web: Web, way: str) -> None:
    before = most = web.memory()
    in_chunks = way == "in chunks"
    length = "Transfer-Encoding: chunked" if in_chunks else f"Content-Length: {BODY}"
    piece = b"%x\r\n%b\r\n" % (len(PIECE), PIECE) if in_chunks else PIECE
    with web.connect() as line:
        line.sendall(HEAD.format(length).encode())
        with suppress(ConnectionError):
            for _ in range(BODY // len(PIECE)):
                line.sendall(piece)
                most = max(most, web.memory())
        answer = _read(line)
    most = max(most, web.memory())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"too large: Turnstone takes 2.6 MB at most" in answer
    assert most - before < 50 * MB


def test_who_asks_first_whether_a_huge_body_is_wanted_is_told_no(web: Web) -> None:
    with web.connect() as line:
        line.sendall(HEAD.format(f"Content-Length: {BODY}\r\nExpect: 100-continue").encode())
        answer = _read(line)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"100 Continue" not in answer


@pytest.mark.parametrize("way", ["with its length", "in chunks"])
def test_a_body_that_is_no_longer_than_a_question_may_be_is_looked_at(web: Web, way: str) -> None:
    body = b"text=" + b"%C3%A4" * 200_000
    length = f"Content-Length: {len(body)}"
    if way == "in chunks":
        length, body = "Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    with web.connect() as line:
        line.sendall(HEAD.format(f"{length}\r\nConnection: close").encode() + body)
        answer = _read(line)

    assert answer.startswith(b"HTTP/1.1 403 ")  # Django's: it has no token
    assert b"This form has expired" in answer


def _read(line: socket.socket) -> bytes:
    """Read until the server has said all, or cut off."""
    answer = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            answer += part
    return answer
