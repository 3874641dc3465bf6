"""What uvicorn is told to bound: heads and bodies that drip in, and pages that do not read."""

import asyncio
from typing import Any

import pytest
import uvicorn
from twisted.internet.task import Clock
from uvicorn.server import ServerState

from project.ops.access import Message
from project.web import uvicorn_server
from project.web.limits import MAX_BYTES, REQUEST_SECONDS
from project.web.uvicorn_server import Requests, Socket, bounded

untyped_clock: Any = Clock


class FakeLoop:
    """A loop whose time a test lets pass; it counts the requests that are begun."""

    def __init__(self) -> None:
        self.clock = untyped_clock()
        self.begun = 0

    def call_later(self, seconds: float, act: Any, *given: Any) -> Any:
        """Act after so many seconds."""
        return self.clock.callLater(seconds, act, *given)

    def create_task(self, work: Any, **_: Any) -> Any:
        """Count a request, and leave it."""
        work.close()
        self.begun += 1
        return FakeTask()


class FakeTask:
    """A request that is worked on."""

    def add_done_callback(self, act: Any) -> None:
        """Never end."""


class FakeTransport:
    """A connection that remembers whether it was closed."""

    is_closed = False

    def close(self) -> None:
        """Close it."""
        self.is_closed = True

    def get_extra_info(self, name: str) -> None:
        """Know nothing of the peer."""


class FakeConnection:
    """A connection to a server with our bounds."""

    def __init__(self) -> None:
        self.loop = FakeLoop()
        self.transport = FakeTransport()
        config = uvicorn.Config(bounded(answer_nothing), http=Requests, ws=Socket, lifespan="off")
        config.load()
        untyped: Any = Requests
        self._protocol = untyped(config, ServerState(), {}, self.loop)
        self._protocol.connection_made(self.transport)

    def send(self, text: bytes) -> None:
        """Send so many bytes."""
        self._protocol.data_received(text)


async def answer_nothing(scope: Any, receive: Any, send: Any) -> None:
    """Take a body and say nothing."""
    while (await receive()).get("more_body"):
        pass


@pytest.mark.parametrize("head", [b"", b"GET /", b"GET / HTTP/1.1\r\nA: b\r\n"])
def test_a_head_that_is_sent_in_half_is_ended(head: bytes) -> None:
    line = FakeConnection()
    if head:
        line.send(head)
    line.loop.clock.advance(REQUEST_SECONDS - 1)
    assert not line.transport.is_closed
    line.loop.clock.advance(2)
    assert line.transport.is_closed


def test_a_byte_now_and_then_does_not_keep_a_head_open() -> None:
    line = FakeConnection()
    line.send(b"GET / HTTP/1.1\r\nA: ")
    for _ in range(REQUEST_SECONDS - 1):
        line.loop.clock.advance(1)
        line.send(b"b")
    assert not line.transport.is_closed
    line.loop.clock.advance(2)
    assert line.transport.is_closed


def test_a_whole_head_may_be_worked_on_for_as_long_as_it_takes() -> None:
    line = FakeConnection()
    line.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    line.loop.clock.advance(10 * REQUEST_SECONDS)
    assert line.loop.begun == 1
    assert not line.transport.is_closed


async def answered(body: list[Message], length: int | None = None) -> list[Message]:
    """Return what is sent to a client that sends these pieces and then no more."""
    sent: list[Message] = []
    pieces = iter(body)

    async def receive() -> Message:
        for piece in pieces:
            return piece
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    await bounded(answer_nothing)({"type": "http", "headers": headers}, receive, send)
    return sent


async def test_a_body_that_drips_in_too_slowly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, "REQUEST_SECONDS", 0.05)
    monkeypatch.setattr(uvicorn_server, "LINGER_SECONDS", 0.05)
    sent = await answered([{"type": "http.request", "body": b"a", "more_body": True}])
    assert sent[0]["status"] == 408


async def test_a_body_that_is_longer_than_it_was_said_to_be_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uvicorn_server, "LINGER_SECONDS", 0.05)
    piece = {"type": "http.request", "body": b"a" * (MAX_BYTES // 2 + 1), "more_body": True}
    sent = await answered([piece, piece], length=1)
    assert sent[0]["status"] == 413


async def test_a_body_that_is_read_by_nobody_is_refused_before_it_comes() -> None:
    rest = {"type": "http.request", "body": b"", "more_body": False}
    sent = await answered([rest], length=MAX_BYTES + 1)
    assert [message.get("status") for message in sent] == [413, None, None]


async def test_a_page_that_does_not_read_makes_no_other_wait() -> None:
    config = uvicorn.Config(answer_nothing, http=Requests, ws=Socket, lifespan="off")
    config.load()
    untyped: Any = Socket
    page = untyped(config, ServerState(), {})
    page.pause_writing()
    assert page.writable.is_set()
