"""The two ways in which a page reaches its server: a WebSocket, and events with posted wishes."""

import json
import secrets
import string
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

HANDSHAKE_SECONDS = 8
SILENCE_SECONDS = 20
LOSSES = (WebSocketException, httpx2.HTTPError, OSError, TimeoutError, StopAsyncIteration)
"""How a line is lost."""

Frame = dict[str, Any]


class Transport(Protocol):
    """One connection, from its handshake to its loss."""

    async def receive(self) -> list[Frame]:
        """Return the next frames; raises one of LOSSES."""
        ...

    async def send(self, frame: Frame) -> list[Frame]:
        """Send a frame and return those that answer it here; raises one of LOSSES."""
        ...

    def cut(self) -> None:
        """Lose the connection without a farewell, as a network does."""
        ...


class Address:
    """Where a conversation is served, and the cookie that signs in there."""

    def __init__(self, host: str, conversation: int, session: str) -> None:
        self.host = host
        self.path = f"conversations/{conversation}/"
        self.session = session


OpenTransport = Callable[[Address, Frame], Any]
"""Opens a line that begins with a hello, as an async context."""


@asynccontextmanager
async def socket_transport(address: Address, hello: Frame) -> AsyncIterator[Transport]:
    """Open a WebSocket, as pages do first."""
    origin: Any = f"http://{address.host}"
    async with connect(
        f"ws://{address.host}/ws/{address.path}",
        origin=origin,
        additional_headers={"Cookie": f"sessionid={address.session}"},
        open_timeout=HANDSHAKE_SECONDS,
        close_timeout=1,
        max_size=None,
    ) as socket:
        line = _SocketTransport(socket)
        await line.send(hello)
        yield line


class _SocketTransport:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def receive(self) -> list[Frame]:
        frame: Frame = json.loads(await self._socket.recv())
        return [frame]

    async def send(self, frame: Frame) -> list[Frame]:
        await self._socket.send(json.dumps(frame))
        return []

    def cut(self) -> None:
        self._socket.transport.abort()


@asynccontextmanager
async def event_transport(address: Address, hello: Frame) -> AsyncIterator[Transport]:
    """Open a response of events, as pages do where WebSockets do not pass."""
    place = ",".join(f"{run}:{cursor}" for run, cursor in hello["cursors"].items())
    query = f"?after={hello['after']}&cursors={place}"
    token = "".join(secrets.choice(string.ascii_letters) for _ in range(32))
    cookies = f"sessionid={address.session}; csrftoken={token}"
    timeout = httpx2.Timeout(HANDSHAKE_SECONDS, read=SILENCE_SECONDS)
    async with (
        httpx2.AsyncClient(
            base_url=f"http://{address.host}/{address.path}",
            headers={"Cookie": cookies, "X-CSRFToken": token},
            timeout=timeout,
            trust_env=False,
        ) as client,
        client.stream("GET", f"events/{query}") as response,
    ):
        response.raise_for_status()
        yield _EventLine(client, response)


class _EventLine:
    def __init__(self, client: httpx2.AsyncClient, response: httpx2.Response) -> None:
        self._client = client
        self._lines = response.aiter_lines()
        self._is_cut = False

    async def receive(self) -> list[Frame]:
        while not self._is_cut:
            name, _, value = (await anext(self._lines)).partition(": ")
            if name == "data":
                frame: Frame = json.loads(value)
                return [frame]
        raise TimeoutError

    async def send(self, frame: Frame) -> list[Frame]:
        if frame["type"] == "ping":
            return []
        if self._client.is_closed:
            raise TimeoutError  # the line was lost while somebody was about to use it
        response = await self._client.post("frames/", json=frame)
        response.raise_for_status()
        answers: list[Frame] = response.json()
        return answers

    def cut(self) -> None:
        self._is_cut = True
