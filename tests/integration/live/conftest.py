"""Sockets on the real ASGI application, without a server in between."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import connection
from django.test import Client

from agents.control import Control
from chat.models import Conversation, Run, User
from chat.runs.worker.claim import claim
from chat.stream.channel import Channel
from project.asgi import application
from tests.integration.here import here

untyped: Any = ApplicationCommunicator
HOST = (b"host", b"localhost")
ORIGIN = (b"origin", b"http://localhost")
Frame = dict[str, Any]


class Page:
    """A page's socket as a test sees it: what it sends, and every frame it was sent."""

    def __init__(self, socket: WebsocketCommunicator) -> None:
        self._socket = socket
        self.frames: list[Frame] = []
        self.close_code: int | None = None
        self.was_accepted = False

    async def open(self) -> bool:
        """Connect, and tell whether the handshake was accepted."""
        accepted, _ = await self._socket.connect(timeout=10)
        return bool(accepted)

    async def say(self, message: object) -> None:
        """Send a message: text as it is, anything else as JSON."""
        text = message if isinstance(message, str) else json.dumps(message)
        await self._socket.send_to(text_data=text)

    async def say_bytes(self, message: bytes) -> None:
        """Send a binary message."""
        await self._socket.send_to(bytes_data=message)

    async def hello(self, cursors: dict[str, str] | None = None, after: int = 0) -> None:
        """Greet, and wait until the page has caught up."""
        await self.say({"type": "hello", "cursors": cursors or {}, "after": after})
        await self.until(lambda frame: frame["type"] == "caught_up")

    async def until(self, is_it: Callable[[Frame], bool], seconds: float = 20) -> Frame:
        """Return the next frame that fits."""
        async with asyncio.timeout(seconds):
            while True:
                frame = await self.next()
                if frame is not None and is_it(frame):
                    return frame

    async def error(self) -> Frame:
        """Return the next error."""
        return await self.until(lambda frame: frame["type"] == "error")

    async def end_of(self, run_id: int) -> Frame:
        """Return the frame that shows a run's end."""
        return await self.until(lambda frame: frame.get("run") == run_id and _ends(frame))

    async def closed(self) -> int:
        """Return the code that the server closes the socket with."""
        async with asyncio.timeout(20):
            while self.close_code is None:
                await self.next()
        return self.close_code

    async def next(self) -> Frame | None:
        """Return the next frame, None when the server has closed."""
        message = await self._socket.receive_output(timeout=20)
        if message["type"] == "websocket.close":
            self.close_code = message["code"]
            return None
        frame: Frame = json.loads(message["text"])
        self.frames.append(frame)
        return frame

    async def leave(self) -> None:
        """Go away; who has gone stays away."""
        if not self._socket.future.done():
            await self._socket.disconnect(timeout=20)

    def events(self, run_id: int) -> list[Frame]:
        """Return all events of a run that came."""
        frames = [f for f in self.frames if f["type"] == "events" and f["run"] == run_id]
        return [event for frame in frames for event in frame["events"]]

    def text(self, run_id: int, kind: str = "thought.delta") -> str:
        """Return all text of one kind that came for a run."""
        return "".join(e["text"] for e in self.events(run_id) if e["type"] == kind)


class EventPage(Page):
    """A page without a socket: the same frames, as the events of a response."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._unread = b""
        self.frames = []
        self.close_code = None
        self.status = 0
        self.headers: dict[str, str] = {}
        self.place = ""

    async def begin(self) -> None:
        """Read the head of the response."""
        start = await self._response.receive_output(timeout=20)
        self.status = start["status"]
        self.headers = {k.decode().lower(): v.decode() for k, v in start["headers"]}

    async def next(self) -> Frame | None:
        """Return the next frame, None when the response has ended."""
        while b"\n\n" not in self._unread:
            part = await self._response.receive_output(timeout=20)
            self._unread += part.get("body", b"")
            if not part.get("more_body"):
                return None
        event, _, self._unread = self._unread.partition(b"\n\n")
        for line in event.decode().split("\n"):
            name, _, value = line.partition(": ")
            if name == "id":
                self.place = value
            else:
                frame: Frame = json.loads(value)
        if frame["type"] == "closed":
            self.close_code = frame["code"]
        self.frames.append(frame)
        return frame

    async def leave(self) -> None:
        """Go away."""
        await self._response.send_input({"type": "http.disconnect"})
        await self._response.wait(timeout=10)


def _ends(frame: Frame) -> bool:
    if frame["type"] == "run.snapshot":
        return 'data-status="running"' not in frame["html"]
    return bool(frame["type"] == "events" and frame["events"][-1]["type"] == "run.ended")


@pytest.fixture
async def page_of(transactional_db: None) -> AsyncIterator[Callable[..., Awaitable[Page]]]:
    """Open pages: `page = await page_of(ada, conversation)`; None is nobody."""
    pages: list[Page] = []

    async def open_page(
        user: User | Client | None, conversation: Conversation | int, **kw: Any
    ) -> Page:
        number = conversation if isinstance(conversation, int) else conversation.pk
        cookie = await database_sync_to_async(_cookie)(user)
        sent = [kw.get("host", HOST), kw.get("origin", ORIGIN), *kw.get("headers", ())]
        headers = [*(header for header in sent if header), (b"cookie", cookie)]
        path = f"/ws/conversations/{number}/"
        server = kw.get("server", application)
        page = Page(WebsocketCommunicator(server, path, headers=headers))
        page.was_accepted = await page.open()
        if page.was_accepted:
            pages.append(page)
        return page

    yield open_page
    for page in pages:
        await page.leave()
    # The communicator keeps Channels from handing back the connection of its thread.
    await sync_to_async(lambda: connection.close())()


@pytest.fixture
async def events_of(transactional_db: None) -> AsyncIterator[Callable[..., Awaitable[EventPage]]]:
    """Open responses: `page = await events_of(ada, conversation, "after=3&cursors=3:1-7")`."""
    pages: list[EventPage] = []

    async def open_page(
        user: User | Client | None,
        conversation: Conversation | int,
        query: str = "",
        last: str = "",
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> EventPage:
        number = conversation if isinstance(conversation, int) else conversation.pk
        cookie = (b"cookie", await database_sync_to_async(_cookie)(user))
        sent = [HOST, (b"last-event-id", last.encode()), cookie, *headers]
        path = f"/conversations/{number}/events/"
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode()}
        response = untyped(application, scope | {"headers": sent})
        await response.send_input({"type": "http.request", "body": b""})
        page = EventPage(response)
        pages.append(page)
        await page.begin()
        return page

    yield open_page
    for page in pages:
        await page.leave()
    await sync_to_async(lambda: connection.close())()


def _cookie(who: User | Client | None) -> bytes:
    """Return the cookie of a session: a new one of a person, or that of a browser."""
    if who is None:
        return b""
    client = who if isinstance(who, Client) else Client()
    if isinstance(who, User):
        client.force_login(who)
    return f"sessionid={client.cookies['sessionid'].value}".encode()


@pytest.fixture
def claimed(asked: Callable[..., Run]) -> Callable[[], Awaitable[tuple[Run, Channel]]]:
    """Give a run that this test works on, and the channel into its stream."""

    def begin() -> tuple[Run, Channel]:
        run = claim(asked([{"say": "never"}]).pk, "this test")
        assert run is not None
        return run, here().publisher.open(run.pk, run.attempt, Control())

    return database_sync_to_async(begin)
