"""One watcher of a conversation: what they see of it, live, and what they wish.

It knows nothing of how frames travel; a transport gives it a way to send and to close. The session
and the ownership are read anew for every wish, when one of them is said to be over, and every half
minute, for a connection outlives both. How much has been sent since the page last said that it has
read is counted here, since the server below has no bound of its own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple
from weakref import WeakSet

from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from chat.live.access import (
    Access,
    News,
    NotSignedIn,
    access,
    in_database,
    known_runs,
    news,
    stored,
)
from chat.live.commands import execute, rejection
from chat.live.doors import doors
from chat.live.followers import NewsFollower, RunFollower, Snapshot
from chat.live.reader import reader
from chat.live.reconcile import sweep
from chat.metrics.instruments import VIEWERS, VIEWERS_CLOSED
from chat.stream import frames, revoked
from chat.stream.streams import StreamId, conversation_key

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0
HEARTBEATS_TO_CHECK = 3
"""After so many heartbeats the session and the ownership are read anew."""

MAX_OF_ONE = 200
"""How many pages of one person a process shows at once; further ones try again."""

MAX_TOLD = 100
"""After so many runs that Redis told of, the record is asked up to where none is missing."""

SIGNED_OUT, NOT_FOUND, TOO_SLOW, TOO_MANY, TRY_LATER = 4401, 4404, 4408, 4429, 4503
"""Why a viewer's line is closed; as the WebSocket numbers an application's own reasons."""

_viewers: "WeakSet[Viewer]" = WeakSet()
VIEWERS.set_function(lambda: sum(viewer.is_open for viewer in _viewers))

Send = Callable[[str], Awaitable[None]]
Close = Callable[[int], Awaitable[None]]


class Position(NamedTuple):
    """Where a page stands, as a hello says it: the cursors of its live runs, its newest run."""

    cursors: dict[int, str]
    after: int


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
        self._runs: dict[int, RunFollower] = {}
        self._news: NewsFollower | None = None
        self._after = 0
        self._settled = 0
        self._told: set[int] = set()
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
            found = await self._access()
        except (OperationalError, InterfaceError):
            await self._close(TRY_LATER)
            return
        if found is None or not self._is_open:
            return
        if self._name(revoked.person(found.person)) > MAX_OF_ONE:
            await self._close(TOO_MANY)
        else:
            self._spawn(self._beat())

    async def close(self) -> None:
        """Follow nothing more."""
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        await doors().leave(self, self._names)
        await self._follow_nothing()

    def look_again(self) -> None:
        """Find out whether the page may be shown still, and whether it lacks a run."""
        self._spawn(self._catch_up_on_news())

    async def receive(self, text: str | None) -> None:
        """Grant what a message asks for, or say in words why not; the line stays open."""
        try:
            frame = frames.parse(text)
        except frames.InvalidFrame as error:
            await self._say(rejection(error, None))
        else:
            await self.serve(frame)

    async def serve(self, frame: frames.ClientFrame) -> None:
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
        live = (follower for follower in self._runs.values() if not follower.is_over)
        cursors = {follower.run_id: str(follower.cursor) for follower in live}
        return Position(cursors, self._settled)

    async def _execute(self, frame: frames.ClientFrame) -> None:
        if isinstance(frame, frames.Ping):
            self._unread = 0
            if frame.answer:
                await self._say(frames.HEARTBEAT)
            return
        found = await self._access() if self._is_open else None
        if found is None:
            return
        if isinstance(frame, frames.Hello):
            await self._hello(frame, found)
            return
        told_before = set(self._told)
        asked = await execute(frame, found)
        # The stream may have been faster; a question asked before gets its answer again.
        if asked is not None and asked.run_id not in self._told - told_before:
            await self._tell_of(asked)

    async def _hello(self, frame: frames.Hello, found: Access) -> None:
        await self._follow_nothing()
        cursors = _parsed(frame.cursors)
        self._after = self._settled = frame.after
        self._told = set(cursors)
        news = await self._follow_news()
        try:
            await self._tell_record(found, cursors)
        finally:
            await news.let_through()

    async def _tell_record(self, found: Access, cursors: dict[int, StreamId]) -> None:
        here = await in_database(known_runs, found.conversation, cursors.keys())
        if here.keys() != cursors.keys():
            await self._say(frames.error("not_found", "The page shows a run that is not here."))
        followers = [self._follower(run_id, cursors[run_id]) for run_id in here]
        # All at once, for while Redis hangs each of them waits until it is given up.
        await asyncio.gather(
            *(one.show_stored() if here[one.run_id] else one.join() for one in followers)
        )
        self._settled = await self._tell_of_news(found)
        await self._say(frames.caught_up(self._settled))

    async def _follow_news(self) -> NewsFollower:
        key = conversation_key(self._conversation_id)
        try:
            cursor = await reader().top(key)
        except RedisError:
            cursor = StreamId(0, 0)
        self._news = news = NewsFollower(
            self._conversation_id, cursor, self._announced, self.look_again, self._knows
        )
        reader().follow(news)
        sweep()
        return news

    def _knows(self, run_id: int) -> bool:
        return run_id <= self._after or run_id in self._told

    async def _announced(self, run_id: int, frame: str) -> None:
        """Pass on what the conversation's stream tells of a run; the run follows on its own."""
        if not self._knows(run_id):
            self._told.add(run_id)
            follower = self._follower(run_id, StreamId(0, 0))
            await self._say(frame)
            self._spawn(self._join(follower))
            if len(self._told) > MAX_TOLD:
                self.look_again()

    async def _tell_of_news(self, found: Access) -> int:
        """Tell of the runs that the record has, and return the last one without any before it left.

        What Redis tells of may come without one that was asked before. The record has no such gap:
        who asks holds the conversation's lock, so no lower number comes later.
        """
        runs = await in_database(news, found.conversation, self._after)
        for run in runs:
            if not self._knows(run.run_id):
                await self._tell_of(run)
        self._after = max((run.run_id for run in runs), default=self._after)
        self._told = {run_id for run_id in self._told if run_id > self._after}
        return self._after

    async def _tell_of(self, run: News) -> None:
        self._told.add(run.run_id)
        follower = None
        if not run.has_ended and run.run_id not in self._runs:
            follower = self._follower(run.run_id, StreamId.parse(run.cursor))
        await self._say(run.frame)
        if follower is not None:
            await self._join(follower)

    async def _catch_up_on_news(self) -> None:
        try:
            found = await self._access()
            if found is not None and self._news is not None:
                await self._tell_of_news(found)
        except (OperationalError, InterfaceError) as error:
            logger.warning("News of conversation %s has to wait: %s", self._conversation_id, error)

    def _follower(self, run_id: int, cursor: StreamId) -> RunFollower:
        sweep()
        follower = RunFollower(run_id, cursor, self._say, self._stored, reader())
        self._runs = {pk: one for pk, one in self._runs.items() if not one.is_over}
        self._runs[run_id] = follower
        return follower

    async def _join(self, follower: RunFollower) -> None:
        if self._runs.get(follower.run_id) is follower:  # the line may have been closed meanwhile
            await follower.join()

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

    async def _forget_if_closed(self) -> None:
        # Cancelling does not always reach through redis-py, so a hello may outlive its line.
        if not self._is_open:
            await self._follow_nothing()

    async def _access(self) -> Access | None:
        """Return what the user may do here now; without a right to read, close and return None."""
        try:
            found = await in_database(access, self._session_key, self._conversation_id)
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
        await self._send_text(text)
        if self._unread > self._most_unread:
            await self._close(TOO_SLOW)

    async def _close(self, code: int) -> None:
        if self._is_open:
            self._is_open = False
            VIEWERS_CLOSED.labels(str(code)).inc()
            await self._close_line(code)
            await doors().leave(self, self._names)
            await self._follow_nothing()

    def _name(self, name: str) -> int:
        self._names.append(name)
        return doors().admit(self, name)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _parsed(cursors: dict[int, str]) -> dict[int, StreamId]:
    try:
        return {run_id: StreamId.parse(cursor) for run_id, cursor in cursors.items()}
    except ValueError as error:
        raise frames.InvalidFrame("wrong_shape", f"In a hello message, cursors: {error}") from None
