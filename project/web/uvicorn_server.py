"""uvicorn, with the bounds that Daphne has here: bodies, slow requests, messages, ends.

It asks for more of a body only as the application takes it, so that the bound is one of ASGI; how
slowly the head of a request drips in is bounded where the bytes arrive.
"""

import asyncio
import logging
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

from chat.live.event_stream import end_all
from project.ops.access import Application, Message, Receive, Send
from project.web.ending import end_soon
from project.web.limits import (
    LINGER_SECONDS,
    MAX_BYTES,
    MAX_MESSAGE_BYTES,
    PING_SECONDS,
    PONG_SECONDS,
    REQUEST_SECONDS,
    TOO_LARGE,
    TOO_SLOW,
)

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2
"""How long requests under way may take once the server is to end."""


def serve(application: Application, listening: socket.socket) -> None:
    """Serve on a socket that listens already, until a signal ends it."""
    config = uvicorn.Config(
        bounded(application),
        http=Requests,
        ws=Socket,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PONG_SECONDS,
        timeout_keep_alive=REQUEST_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    Server(config).run([listening])


class Server(uvicorn.Server):
    """End without an exit code of failure, and not before pages know where to go on."""

    def handle_exit(self, sig: int, frame: object) -> None:
        """End on the first signal, at once on the second."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of all connections and then of the process."""
        end_soon()
        end_all()
        await super().shutdown(sockets)


class Socket(WSProtocol):
    """Send without waiting until a page reads, for the same reader serves all others meanwhile.

    How much it may have unread is bounded by `chat.live.viewer`, which closes it then.
    """

    def pause_writing(self) -> None:
        """Go on."""


class Requests(H11Protocol):
    """Give the head of each request its time, which bytes that drip in do not prolong."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def handle_events(self) -> None:
        """Look at what has come; a whole head is a request that is worked on."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection over."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._await_request()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        self._stop_waiting()
        self._patience = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def bounded(application: Application) -> Application:
    """Wrap an ASGI application so that no body is longer, or longer on its way, than it may be."""

    async def wrapper(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        body = _Body(receive)
        try:
            if _length(scope) > MAX_BYTES:
                raise _Refused(413, TOO_LARGE)
            await application(scope, body.receive, send)
        except _Refused as refused:
            logger.warning("A request was refused: %s", refused.words.strip())
            await _refuse(refused, receive, send)

    return wrapper


class _Refused(Exception):
    """Raised out of the application when a body is more than it may be; it has not answered yet."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class _Body:
    """Hand a body on, piece by piece, while it is within its bounds."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0
        self._is_whole = False
        self._deadline = asyncio.get_running_loop().time() + REQUEST_SECONDS

    async def receive(self) -> Message:
        """Return the next message; raises _Refused, which ends the request."""
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise _Refused(408, TOO_SLOW) from None
        self._bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._bytes > MAX_BYTES:
            raise _Refused(413, TOO_LARGE)
        return message


def _length(scope: Message) -> int:
    said = dict(scope["headers"]).get(b"content-length", b"0")
    return int(said) if said.isdigit() else 0


async def _refuse(refused: _Refused, receive: Receive, send: Send) -> None:
    words = refused.words.encode()
    headers = [
        (b"connection", b"close"),
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(words)),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": words, "more_body": True})
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while (await receive()).get("more_body", False):
                pass  # what came of it is let go
    except TimeoutError:
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
