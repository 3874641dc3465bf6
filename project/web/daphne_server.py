"""Daphne, with bounds on what it takes in.

It takes in a whole body, however long, keeps it in memory and only then asks Django, whose own
limit comes too late: whoever can reach the server could fill it. Nor does it mind how slowly a
request drips in. So both are bounded here, where the bytes arrive.
"""

import logging
from io import BytesIO
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.web.http import HTTPChannel

from project.web.ending import end_soon
from project.web.limits import (
    LINGER_SECONDS,
    MAX_BYTES,
    MAX_MESSAGE_BYTES,
    PING_SECONDS,
    PONG_SECONDS,
    REQUEST_SECONDS,
    TOO_LARGE,
)

logger = logging.getLogger(__name__)

WORDS = TOO_LARGE.encode()
REFUSAL = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
) % (len(WORDS), WORDS)


def serve(bind: list[str]) -> None:
    """Serve until a signal ends it; `bind` are Daphne's own options of where to listen."""
    from daphne.cli import CommandLineInterface  # installs its reactor on the loop of the moment

    options = [
        *("-v", "0", "--no-server-name"),
        *("--ping-interval", str(PING_SECONDS), "--ping-timeout", str(PONG_SECONDS)),
        *("--websocket-max-message-size", str(MAX_MESSAGE_BYTES)),
        *("--websocket-max-frame-size", str(MAX_MESSAGE_BYTES)),
    ]
    CommandLineInterface().run([*options, *bind, "project.asgi:application"])


class Request(WebRequest):  # type: ignore[misc] # Daphne ships no types
    """Take in a body of so many bytes; of a longer one keep nothing and say so."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._bytes = 0
        self._is_refused = False

    def gotLength(self, length: int | None) -> None:
        """Prepare for a body of so many bytes, None if that is not known beforehand."""
        if length is not None and length > MAX_BYTES:
            self._refuse()
        else:
            super().gotLength(length)

    def handleContentChunk(self, data: bytes) -> None:
        """Take in more of the body."""
        self._bytes += len(data)
        if self._is_refused:
            return
        if self._bytes > MAX_BYTES:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Work on a request that has come in whole."""
        if not self._is_refused:
            super().requestReceived(command, path, version)

    def _refuse(self) -> None:
        logger.warning("A request of more than %.1f MB was refused", MAX_BYTES / 1e6)
        self._is_refused = True
        self.requestHeaders.removeHeader(b"Expect")  # or it would be asked to go on
        self.content = BytesIO()  # what came of it is let go
        transport = self.channel.transport
        transport.write(REFUSAL)
        transport.loseWriteConnection()
        self.channel.callLater(LINGER_SECONDS, transport.abortConnection)


class Channel(HTTPChannel):
    """Give each request its time, which bytes that drip in do not prolong."""

    def resetTimeout(self) -> None:
        """Let the time go on."""


class Factory(HTTPFactory):  # type: ignore[misc]
    """Make the above for each connection."""

    protocol = Channel

    def __init__(self, server: object) -> None:
        super().__init__(server)
        self.timeOut = REQUEST_SECONDS

    def buildProtocol(self, address: object) -> Channel:
        """Return what takes in a connection's bytes."""
        channel: Channel = super().buildProtocol(address)
        channel.requestFactory = Request
        return channel


def bound() -> None:
    """Have the Daphne that runs this process take in requests so, and end; before it listens."""
    from daphne import server
    from twisted.internet import reactor

    server.HTTPFactory = Factory
    untyped: Any = reactor
    untyped.addSystemEventTrigger("after", "shutdown", end_soon)
