"""One reader a web process: a single blocking XREAD over all the streams that its sockets follow.

It has a connection of its own without a timeout, for redis-py's default would cut an idle reader
off. A stream's position is kept while Redis is away, so nothing is skipped when it is back.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import hiredis
from django.conf import settings
from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.exceptions import RedisError

from chat.stream.streams import StreamId

logger = logging.getLogger(__name__)

TICK = 0.01
"""Seconds between two reads, so that one read takes the frames of many runs."""

PART = 500
BLOCK_SECONDS = 5
DEAD_SECONDS = 3 * BLOCK_SECONDS
PATIENCE_SECONDS = 2.0
"""How long a page that comes waits for Redis, before it is shown what is stored."""
BACKOFF = (0.1, 2.0)
FAIRNESS = 50
"""How many streams are passed on before the loop may write to sockets."""


class Entry(NamedTuple):
    """One entry of a stream: its payload, and its second field where it has one."""

    id: StreamId
    payload: str
    mark: str


class Follower(Protocol):
    """Whoever is told of a stream's entries."""

    key: str
    cursor: StreamId

    async def deliver(self, entries: list[Entry]) -> None:
        """Pass the entries on, without waiting for anybody."""
        ...

    def recover(self) -> None:
        """Notice that Redis was away, and may have forgotten."""
        ...


class _Stream:
    """A followed stream: how far it is read, and for whom."""

    def __init__(self, cursor: StreamId) -> None:
        self.cursor = str(cursor).encode()
        self.followers: list[Follower] = []


class Reader:
    """Follow streams for all the sockets of one event loop."""

    def __init__(self) -> None:
        self._streams: dict[bytes, _Stream] = {}
        self._commands: Redis = Redis(
            connection_pool=BlockingConnectionPool.from_url(
                settings.REDIS_URL,
                max_connections=8,
                timeout=PATIENCE_SECONDS,
                socket_timeout=PATIENCE_SECONDS,
                protocol=2,
            )
        )
        self._task: asyncio.Task[None] | None = None
        self._waker: asyncio.Task[None] | None = None
        self._client_id: int | None = None
        self._wanted = 0
        self._listening = 0

    def follow(self, follower: Follower) -> None:
        """Tell `follower` of every entry that comes from now on.

        What lies between its cursor and now is told too if it is the stream's first follower; a
        later one asks for its `backlog` and skips what it then gets twice.
        """
        key = follower.key.encode()
        if key not in self._streams:
            self._streams[key] = _Stream(follower.cursor)
            self._wanted += 1
            self._wake()
        self._streams[key].followers.append(follower)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read_for_ever())

    async def leave(self, follower: Follower) -> None:
        """Stop telling `follower`; the last one to leave ends the reading."""
        key = follower.key.encode()
        stream = self._streams.get(key)
        if stream is None or follower not in stream.followers:
            return
        stream.followers.remove(follower)
        if not stream.followers:
            del self._streams[key]
        if not self._streams:
            await self._end()

    async def backlog(self, follower: Follower) -> list[Entry]:
        """Return the next entries after the follower's cursor, none at the end.

        Raises RedisError when Redis is away.
        """
        raw: Any = await self._commands.xrange(follower.key, f"({follower.cursor}", "+", count=PART)
        return [_entry(stream_id, list(fields.values())) for stream_id, fields in raw]

    async def top(self, key: str) -> StreamId:
        """Return the id of a stream's newest entry; raises RedisError when Redis is away."""
        raw: Any = await self._commands.xrevrange(key, count=1)
        return _parsed(raw[0][0]) if raw else StreamId(0, 0)

    def followers(self) -> Iterable[Follower]:
        """Return everybody who is told of anything."""
        return [one for stream in self._streams.values() for one in stream.followers]

    def _wake(self) -> None:
        if self._waker is None or self._waker.done():
            self._waker = asyncio.create_task(self._unblock())

    async def _unblock(self) -> None:
        # The reader may be on its way into the blocking read, where it cannot be woken yet.
        while self._listening < self._wanted and self._client_id is not None:
            try:
                await self._commands.client_unblock(self._client_id)
            except RedisError:
                return
            await asyncio.sleep(TICK / 2)

    async def _end(self) -> None:
        own = asyncio.current_task()
        tasks = [task for task in (self._task, self._waker) if task not in (None, own)]
        self._task = self._waker = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._commands.aclose()

    async def _read_for_ever(self) -> None:
        backoff = BACKOFF[0]
        was_lost = False
        while self._streams:
            pool: Any = ConnectionPool.from_url(settings.REDIS_URL, socket_timeout=None, protocol=2)
            connection = pool.make_connection()
            try:
                # Not wait_for, which loses the wish to end when that comes with the connection.
                async with asyncio.timeout(DEAD_SECONDS):
                    await connection.connect()
                self._client_id = await _call(connection, b"CLIENT", b"ID")
                if was_lost:
                    self._recovered()
                backoff, was_lost = BACKOFF[0], False
                while self._streams:
                    await self._read(connection)
            except (RedisError, OSError, TimeoutError) as error:
                if not was_lost:
                    logger.warning("Live pages wait for Redis: %s", error)
                was_lost = True
            finally:
                self._client_id = None
                await connection.disconnect(nowait=True)
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, BACKOFF[1])

    async def _read(self, connection: Any) -> None:
        self._listening = self._wanted
        cursors = [stream.cursor for stream in self._streams.values()]
        command = (b"XREAD", b"COUNT", b"%d" % PART, b"BLOCK", b"%d" % (BLOCK_SECONDS * 1000))
        found = await _call(connection, *command, b"STREAMS", *self._streams, *cursors)
        for place, (key, raw) in enumerate(found or ()):
            if place % FAIRNESS == FAIRNESS - 1:
                await asyncio.sleep(0)
            stream = self._streams.get(key)
            if stream is not None:
                stream.cursor = raw[-1][0]
                await self._tell(stream, raw)
        if found:
            await asyncio.sleep(TICK)

    async def _tell(self, stream: _Stream, raw: list[Any]) -> None:
        entries = [_entry(stream_id, fields[1::2]) for stream_id, fields in raw]
        for follower in tuple(stream.followers):
            try:
                await follower.deliver(entries)
            except Exception:
                # One socket's trouble must not keep the others from their frames.
                logger.exception("A follower of %s failed", follower.key)
                await self.leave(follower)

    def _recovered(self) -> None:
        for follower in self.followers():
            follower.recover()


async def _call(connection: Any, *command: Any) -> Any:
    await connection.send_packed_command([hiredis.pack_command(command)])
    return await connection.read_response(disable_decoding=True, timeout=DEAD_SECONDS)


def _parsed(raw: bytes) -> StreamId:
    attempt, _, seq = raw.partition(b"-")
    return StreamId(int(attempt), int(seq))


def _entry(stream_id: bytes, values: list[bytes]) -> Entry:
    mark = values[1].decode() if len(values) > 1 else ""
    return Entry(_parsed(stream_id), values[0].decode(), mark)


_readers: "WeakKeyDictionary[asyncio.AbstractEventLoop, Reader]" = WeakKeyDictionary()


def reader() -> Reader:
    """Return the reader of the running event loop."""
    return _readers.setdefault(asyncio.get_running_loop(), Reader())
