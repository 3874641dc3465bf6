"""The same frames where WebSockets do not pass: as server-sent events, and as a POST per wish.

A response never hears whether its page reads, so it ends after so many characters or seconds, and
the page asks for another from where it stands. The id of each event is the query that does so.
"""

import asyncio
from collections.abc import AsyncIterator

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.views.decorators.http import require_GET, require_POST

from chat.live import client_frames
from chat.live.access import Access, NotSignedIn, access, in_database
from chat.live.commands import UNREACHABLE, execute, rejection
from chat.live.conversation_follower import Position
from chat.live.origin import is_foreign
from chat.live.viewer import TOO_SLOW, Viewer
from chat.stream import frames

MAX_CHARACTERS = 4_000_000
MAX_SECONDS = 300.0
"""How much one response carries and how long it lasts; then the page asks for the next."""

FINISHED = 1000
"""The response has been long enough: go on with another, at once."""

HEADERS = {
    "Cache-Control": "no-store, private, no-transform",
    "X-Accel-Buffering": "no",  # nginx would keep frames until it has a page full
}
REFUSED = {
    401: "You are signed out.",
    403: "Only pages of Turnstone itself may follow a conversation.",
    404: "There is no such conversation.",
    503: UNREACHABLE,
}


@require_GET
async def events(request: HttpRequest, conversation_id: int) -> HttpResponseBase:
    """Send what a page lacks and then what comes; `?after=12&cursors=12:1-7,13:0-0` is its hello.

    `Last-Event-ID`, which a browser's EventSource sends, takes the place of the query.
    """
    if is_foreign(request):
        return _refused(403)
    found = await _access(request, conversation_id)
    if isinstance(found, int):
        return _refused(found)
    try:
        hello = _hello(QueryDict(request.headers.get("Last-Event-ID", "")) or request.GET)
    except ValueError:
        return HttpResponse("The query names no place in a conversation.", status=400)
    line = _EventTransport(conversation_id, request.session.session_key)
    return StreamingHttpResponse(
        line.follow(hello), content_type="text/event-stream", headers=HEADERS
    )


@require_POST
async def wish(request: HttpRequest, conversation_id: int) -> HttpResponseBase:
    """Grant the wish of a page without a socket; the answer is a list of frames.

    Only JSON is read, which no form of another site can send; as for every POST, Django looks at
    its token and its origin.
    """
    if request.content_type != "application/json":
        return HttpResponse("A wish is a JSON object.", status=415)
    found = await _access(request, conversation_id)
    if isinstance(found, int):
        return _refused(found)
    frame: client_frames.ClientFrame | None = None
    answers: list[str] = []
    try:
        frame = client_frames.parse(_body(request))
        if not isinstance(frame, client_frames.Hello | client_frames.Ping):
            asked = await in_database(execute, frame, found)
            answers = [asked.frame] if asked is not None else []
    except Exception as error:
        answers = [rejection(error, frame)]
    return HttpResponse(f"[{','.join(answers)}]", content_type="application/json")


def end_all() -> None:
    """End every response of this process, which is about to end; pages go on elsewhere at once."""
    for line in tuple(_open):
        line.end()


class _EventTransport:
    """Carry one viewer's frames as the lines of a response."""

    def __init__(self, conversation_id: int, session_key: str | None) -> None:
        self._viewer = Viewer(conversation_id, session_key, self._send, self._close, MAX_CHARACTERS)
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._place = ""

    async def follow(self, hello: client_frames.Hello) -> AsyncIterator[str]:
        """Yield each frame with the place to go on from, until the line is closed."""
        greeting = asyncio.create_task(self._greet(hello))
        loop = asyncio.get_running_loop()
        timer = loop.call_later(MAX_SECONDS, self.end)
        _open.add(self)
        try:
            while (line := await self._lines.get()) is not None:
                yield line
        finally:
            _open.discard(self)
            timer.cancel()
            greeting.cancel()
            await self._viewer.close()

    def end(self) -> None:
        """End the response, whose page asks for the next."""
        self._put_end(FINISHED)

    async def _greet(self, hello: client_frames.Hello) -> None:
        await self._viewer.open()
        await self._viewer.serve(hello)

    async def _send(self, text: str) -> None:
        place = _place(self._viewer.position)
        mark = f"id: {place}\n" if place != self._place else ""
        self._place = place
        self._lines.put_nowait(f"{mark}data: {text}\n\n")

    async def _close(self, code: int) -> None:
        self._put_end(FINISHED if code == TOO_SLOW else code)

    def _put_end(self, code: int) -> None:
        self._lines.put_nowait(f"data: {frames.closed(code)}\n\n")
        self._lines.put_nowait(None)


_open: set[_EventTransport] = set()


async def _access(request: HttpRequest, conversation_id: int) -> Access | int:
    """Return what the user may do here, or the status of the answer that they may do nothing."""
    try:
        found = await in_database(access, request.session.session_key, conversation_id)
    except NotSignedIn:
        return 401
    except (OperationalError, InterfaceError):
        return 503
    return found or 404


def _refused(status: int) -> HttpResponse:
    return HttpResponse(REFUSED[status], status=status, content_type="text/plain; charset=utf-8")


def _hello(query: QueryDict) -> client_frames.Hello:
    """Read a place in a conversation; raises ValueError for anything else."""
    pairs = [pair.partition(":") for pair in query.get("cursors", "").split(",") if pair]
    cursors = {run: cursor for run, _, cursor in pairs}
    return client_frames.Hello.model_validate(
        {"type": "hello", "cursors": cursors, "after": query.get("after", "0")}
    )


def _place(position: Position) -> str:
    """Write a place in a conversation as `_hello` reads it."""
    cursors = ",".join(f"{run}:{cursor}" for run, cursor in position.cursors.items())
    return f"after={position.after}&cursors={cursors}"


def _body(request: HttpRequest) -> str | None:
    """Return what was posted, None if it is no text; raises InvalidFrame if there is too much."""
    try:
        return request.body.decode()
    except UnicodeDecodeError:
        return None
    except RequestDataTooBig:
        raise client_frames.too_long() from None
