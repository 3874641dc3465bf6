"""One watcher of a conversation: what they see of it, live, and what they wish.

It knows nothing of how frames travel; a transport gives it a way to send and to close. The session
and the ownership are read anew for every wish, when one of them is said to be over, and every half
minute, for a connection outlives both. How much has been sent since the page last said that it has
read is counted here, since the server below has no bound of its own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from weakref import WeakSet

from django.db import InterfaceError, OperationalError

from chat.live import client_frames
from chat.live.access import Access, NotSignedIn, access, in_database
from chat.live.commands import execute, rejection
from chat.live.conversation_follower import ConversationFollower, Position
from chat.live.doors import doors
from chat.metrics.instruments import VIEWERS, VIEWERS_CLOSED
from chat.stream import frames, revoked

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0
HEARTBEATS_TO_CHECK = 3
"""After so many heartbeats the session and the ownership are read anew."""

MAX_OF_ONE = 200
"""How many pages of one person a process shows at once; further ones try again."""

SIGNED_OUT, NOT_FOUND, TOO_SLOW, TOO_MANY, TRY_LATER = 4401, 4404, 4408, 4429, 4503
"""Why a viewer's line is closed; as the WebSocket numbers an application's own reasons."""

_viewers: "WeakSet[Viewer]" = WeakSet()
VIEWERS.set_function(lambda: sum(viewer.is_open for viewer in _viewers))

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int], Awaitable[None]]


class Viewer:
    """Follow a conversation for one page, over a line that `send` and `close` stand for.

    After `most_unread` characters without a ping the line is closed; the page may resume.
    """

    def __init__(
        self,
        conversation_id: int,
        session_key: str | None,
        send: Send,
        close: Close,
        most_unread: int,
    ) -> None:
        self._conversation_id = conversation_id
        self._session_key = session_key
        self._send_text = send
        self._close_line = close
        self._most_unread = most_unread
        self._follower = ConversationFollower(
            conversation_id, self._say, self._spawn, self.look_again
        )
        self._unread = 0
        self._is_open = True
        self._names: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        _viewers.add(self)

    async def open(self) -> None:
        """Let in who may read the conversation; the others learn only that it is not for them."""
        self._name(revoked.conversation(self._conversation_id))
        if self._session_key:
            self._name(revoked.session(self._session_key))
        try:
            rights = await self._access()
        except (OperationalError, InterfaceError):
            await self._close(TRY_LATER)
            return
        if rights is None or not self._is_open:
            return
        if self._name(revoked.person(rights.person)) > MAX_OF_ONE:
            await self._close(TOO_MANY)
        else:
            self._spawn(self._beat())

    async def close(self) -> None:
        """Follow nothing more."""
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        await doors().leave(self, self._names)
        await self._follower.leave()

    def look_again(self) -> None:
        """Find out whether the page may be shown still, and whether it lacks a run."""
        self._spawn(self._catch_up_on_news())

    async def receive(self, text: str | None) -> None:
        """Grant what a message asks for, or say in words why not; the line stays open."""
        try:
            frame = client_frames.parse(text)
        except client_frames.InvalidFrame as error:
            await self._say(rejection(error, None))
        else:
            await self.serve(frame)

    async def serve(self, frame: client_frames.ClientFrame) -> None:
        """Grant what a frame asks for; a hello is sent what its page lacks, and then what comes."""
        try:
            await self._execute(frame)
        except Exception as error:
            await self._say(rejection(error, frame))
        finally:
            await self._forget_if_closed()

    @property
    def is_open(self) -> bool:
        """Tell whether anything more is sent."""
        return self._is_open

    @property
    def position(self) -> Position:
        """Return where the page stands that has read everything sent so far."""
        return self._follower.position

    async def _execute(self, frame: client_frames.ClientFrame) -> None:
        if isinstance(frame, client_frames.Ping):
            self._unread = 0
            if frame.answer:
                await self._say(frames.HEARTBEAT)
            return
        rights = await self._access() if self._is_open else None
        if rights is None:
            return
        if isinstance(frame, client_frames.Hello):
            await self._follower.resume(frame, rights)
            return
        told_before = self._follower.told
        run = await in_database(execute, frame, rights)
        # The stream may have been faster; a question asked before gets its answer again.
        if run is not None and run.run_id not in self._follower.told - told_before:
            await self._follower.tell_of(run)

    async def _catch_up_on_news(self) -> None:
        try:
            rights = await self._access()
            if rights is not None and self._follower.is_following:
                await self._follower.tell_of_news(rights)
        except (OperationalError, InterfaceError) as error:
            logger.warning("News of conversation %s has to wait: %s", self._conversation_id, error)

    async def _forget_if_closed(self) -> None:
        # Cancelling does not always reach through redis-py, so a hello may outlive its line.
        if not self._is_open:
            await self._follower.leave()

    async def _access(self) -> Access | None:
        """Return what the user may do here now; without a right to read, close and return None."""
        try:
            rights = await in_database(access, self._session_key, self._conversation_id)
        except NotSignedIn:
            await self._close(SIGNED_OUT)
            return None
        if rights is None:
            await self._close(NOT_FOUND)
        return rights

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
        await self._send_text(text)
        if self._unread > self._most_unread:
            await self._close(TOO_SLOW)

    async def _close(self, code: int) -> None:
        if self._is_open:
            self._is_open = False
            VIEWERS_CLOSED.labels(str(code)).inc()
            await self._close_line(code)
            await doors().leave(self, self._names)
            await self._follower.leave()

    def _name(self, name: str) -> int:
        self._names.append(name)
        return doors().admit(self, name)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
