"""The socket of one page: what its user may see of a conversation, live, and what they wish.

The session and the ownership are read anew for every wish and every half minute, for a socket
outlives both. Frames go out as they come; how much the page has not read yet is known from its
pings, since the server below has no bound of its own.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from chat.live import frames
from chat.live.followers import NewsFollower, RunFollower, Snapshot
from chat.live.reader import reader
from chat.live.records import (
    Access,
    News,
    NotSignedIn,
    Refused,
    access,
    in_database,
    known_runs,
    news,
    request_stop,
    send,
    stored,
)
from chat.live.streams import StreamId, conversation_key
from chat.live.sweep import sweep
from chat.runs.ask import InvalidQuestion

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0
HEARTBEATS_TO_CHECK = 3
"""After so many heartbeats the session and the ownership are read anew."""

MOST_UNREAD = 8_000_000
"""Characters sent since the page's last ping; who is further behind is cut off, and may resume."""

SIGNED_OUT, NOT_FOUND, TOO_SLOW = 4401, 4404, 4408


class ConversationConsumer(AsyncWebsocketConsumer):
    """Serve one socket on one conversation."""

    async def connect(self) -> None:
        """Let in who may read the conversation; the others learn only that it is not for them."""
        self._conversation_id: int = self.scope["url_route"]["kwargs"]["conversation_id"]
        self._runs: dict[int, RunFollower] = {}
        self._news: NewsFollower | None = None
        self._after = 0
        self._told: set[int] = set()
        self._unread = 0
        self._is_open = True
        self._tasks: set[asyncio.Task[None]] = set()
        await self.accept()
        try:
            if await self._access() is not None:
                self._spawn(self._beat())
        except (OperationalError, InterfaceError):
            await self._close(1013)

    async def disconnect(self, code: int) -> None:
        """Follow nothing more."""
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        await self._follow_nothing()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Grant a wish, or say in words why not; the socket stays open."""
        frame: frames.ClientFrame | None = None
        try:
            frame = frames.parse(text_data)
            await self._grant(frame)
        except Exception as error:
            asked_by = None
            if isinstance(frame, frames.Send):
                asked_by = str(frame.client_message_id)
            elif isinstance(error, frames.InvalidFrame):
                asked_by = error.client_message_id
            await self._say(frames.error(*_in_words(error), asked_by))

    async def _grant(self, frame: frames.ClientFrame) -> None:
        if isinstance(frame, frames.Ping):
            self._unread = 0
            return
        found = await self._access()
        if found is None:
            return
        if isinstance(frame, frames.Hello):
            await self._hello(frame, found)
        elif not found.is_owner:
            raise Refused("forbidden", "Only the owner of a conversation can do this.")
        elif isinstance(frame, frames.Send):
            await self._send(frame, found)
        else:
            await in_database(request_stop, found.conversation, frame.run)

    async def _send(self, frame: frames.Send, found: Access) -> None:
        told_before = set(self._told)
        asked = await in_database(send, found.conversation, frame)
        # The stream may have been faster; a question asked before gets its answer again.
        if asked.run_id not in self._told - told_before:
            await self._tell_of(asked)

    async def _hello(self, frame: frames.Hello, found: Access) -> None:
        await self._follow_nothing()
        cursors = _parsed(frame.cursors)
        self._after = frame.after
        self._told.clear()
        await self._follow_news()
        here = await in_database(known_runs, found.conversation, cursors.keys())
        if here.keys() != cursors.keys():
            await self._say(frames.error("not_found", "The page shows a run that is not here."))
        for run_id, has_ended in here.items():
            follower = self._follower(run_id, cursors[run_id])
            await (follower.show_stored() if has_ended else follower.join())
        await self._tell_of_news(found)
        await self._say(frames.CAUGHT_UP)

    async def _follow_news(self) -> None:
        key = conversation_key(self._conversation_id)
        try:
            cursor = await reader().top(key)
        except RedisError:
            cursor = StreamId(0, 0)
        self._news = NewsFollower(self._conversation_id, cursor, self._announced, self._look_again)
        reader().follow(self._news)

    async def _announced(self, run_id: int, frame: str) -> None:
        """Pass on what the conversation's stream tells of a run; the run follows on its own."""
        if run_id > self._after and run_id not in self._told:
            self._told.add(run_id)
            await self._say(frame)
            self._spawn(self._follower(run_id, StreamId(0, 0)).join())

    async def _tell_of_news(self, found: Access) -> None:
        for run in await in_database(news, found.conversation, self._after):
            if run.run_id not in self._told:
                await self._tell_of(run)

    async def _tell_of(self, run: News) -> None:
        self._told.add(run.run_id)
        await self._say(run.frame)
        if not run.has_ended and run.run_id not in self._runs:
            await self._follower(run.run_id, StreamId.parse(run.cursor)).join()

    def _look_again(self) -> None:
        """Ask Postgres for runs that Redis may have forgotten to tell of."""
        self._spawn(self._catch_up_on_news())

    async def _catch_up_on_news(self) -> None:
        found = await self._access()
        if found is not None:
            await self._tell_of_news(found)

    def _follower(self, run_id: int, cursor: StreamId) -> RunFollower:
        sweep()
        follower = RunFollower(run_id, cursor, self._say, self._stored, reader())
        self._runs[run_id] = follower
        return follower

    async def _stored(self, run_id: int) -> Snapshot | None:
        return await in_database(stored, run_id)

    async def _follow_nothing(self) -> None:
        followers = [*self._runs.values(), self._news]
        self._runs, self._news = {}, None
        for follower in followers:
            if isinstance(follower, RunFollower):
                await follower.leave()
            elif follower is not None:
                await reader().leave(follower)

    async def _access(self) -> Access | None:
        """Return what the user may do here now; without a right to read, close and return None."""
        session_key = self.scope["session"].session_key
        try:
            found = await in_database(access, session_key, self._conversation_id)
        except NotSignedIn:
            await self._close(SIGNED_OUT)
            return None
        if found is None:
            await self._close(NOT_FOUND)
        return found

    async def _beat(self) -> None:
        beats = 0
        while self._is_open:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self._say(frames.HEARTBEAT)
            beats += 1
            if beats % HEARTBEATS_TO_CHECK == 0:
                try:
                    await self._access()
                except (OperationalError, InterfaceError):
                    continue  # no answer is not a no; every wish is checked for itself

    async def _say(self, text: str) -> None:
        if not self._is_open:
            return
        self._unread += len(text)
        await self.base_send({"type": "websocket.send", "text": text, "bytes": None})
        if self._unread > MOST_UNREAD:
            await self._close(TOO_SLOW)

    async def _close(self, code: int) -> None:
        if self._is_open:
            self._is_open = False
            await self.close(code)
            await self._follow_nothing()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _parsed(cursors: dict[int, str]) -> dict[int, StreamId]:
    try:
        return {run_id: StreamId.parse(cursor) for run_id, cursor in cursors.items()}
    except ValueError as error:
        raise frames.InvalidFrame("wrong_shape", f"In a hello message, cursors: {error}") from None


def _in_words(error: Exception) -> tuple[str, str]:
    """Return an error's code and what the person may know of it."""
    match error:
        case frames.InvalidFrame() | Refused():
            return error.code, str(error)
        case InvalidQuestion():
            return "invalid_question", str(error)
        case OperationalError() | InterfaceError():
            logger.warning("A message has to wait for Postgres: %s", error)
            return "unavailable", "Turnstone cannot reach its database. Try again in a moment."
        case _:
            logger.error("A message could not be handled", exc_info=error)
            return "internal", "Something broke inside Turnstone. Nothing was lost; try again."
