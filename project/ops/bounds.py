"""What a request may weigh and how long it may take to come, before anybody looks at it.

Daphne takes in a whole body, however long, keeps it in memory and only then asks Django, whose own
limit comes too late: whoever can reach the server could fill it. Nor does it mind how slowly a
request drips in. So both are bounded here, where the bytes arrive.
"""

import logging
import sys
from io import BytesIO

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.web.http import HTTPChannel

logger = logging.getLogger(__name__)

MAX_BYTES: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
"""What Django would take: the longest question, every byte of it escaped, is half of that."""

REQUEST_SECONDS = 60
"""From the connection, or the end of the answer before, to the end of the request."""

LINGER_SECONDS = 5
"""How long the rest of a refused body is read and thrown away: a client that still sends would be
cut off before it has read the answer."""

WORDS = f"This request is too large: Turnstone takes {MAX_BYTES / 1e6:.1f} MB at most.\n".encode()
REFUSAL = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
) % (len(WORDS), WORDS)


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


def bound_requests() -> None:
    """Have Daphne, where it runs this process, take in requests so; call it before it listens."""
    server = sys.modules.get("daphne.server")
    if server is not None:
        server.HTTPFactory = Factory  # type: ignore[attr-defined]
