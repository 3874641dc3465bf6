"""A request has its time, however it drips in."""

from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from project.web.daphne_server import Channel
from project.web.limits import REQUEST_SECONDS

untyped_transport: Any = StringTransport
untyped_channel: Any = Channel


class FakeTransport:
    """A connection whose time a test lets pass."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.transport = untyped_transport()
        self._channel = untyped_channel()
        self._channel.callLater = self.clock.callLater
        self._channel.timeOut = REQUEST_SECONDS
        self._channel.makeConnection(self.transport)

    def send(self, text: bytes) -> None:
        """Send so many bytes."""
        self._channel.dataReceived(text)

    @property
    def is_closed(self) -> bool:
        """Tell whether the server wants no more of it."""
        return bool(self.transport.disconnecting)


@pytest.mark.parametrize(
    "head",
    [b"", b"GET /", b"GET / HTTP/1.1\r\nA: b\r\n", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"],
)
def test_a_request_that_is_sent_in_half_is_ended(head: bytes) -> None:
    line = FakeTransport()
    line.send(head)
    line.clock.advance(REQUEST_SECONDS - 1)
    assert not line.is_closed
    line.clock.advance(2)
    assert line.is_closed


def test_a_byte_now_and_then_does_not_keep_a_request_open() -> None:
    line = FakeTransport()
    line.send(b"GET / HTTP/1.1\r\nA: ")
    for _ in range(REQUEST_SECONDS - 1):
        line.clock.advance(1)
        line.send(b"b")
    assert not line.is_closed
    line.clock.advance(2)
    assert line.is_closed
