"""What one socket follows: runs, whose frames must come without a gap, and news of new runs.

Frames are glued from the text of the stream; no payload is parsed on its way.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from chat.live.reader import Entry, Reader
from chat.metrics.instruments import SNAPSHOTS
from chat.stream import frames
from chat.stream.streams import StreamId, conversation_key, run_key

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0

FRAME_CHARACTERS = 8_000
"""How much is glued into one frame: on a bad line only what comes whole brings a page further."""

Say = Callable[[str], Awaitable[None]]


class Snapshot(NamedTuple):
    """A run as it is stored: its HTML, the frame it is as new as, and how it stands."""

    cursor: str
    html: str
    has_ended: bool
    waits: bool


ReadStored = Callable[[int], Awaitable[Snapshot | None]]
"""Reads a run from Postgres: None if the run is gone."""


class RunFollower:
    """Send one socket the frames of one run, each once and in order.

    Where the stream lacks a frame, or a new attempt has begun, the run is sent as it is stored and
    the stream goes on from there. While that or the backlog is under way, what comes is held.
    `is_over` tells that the run's end was sent, `waits` that it may be waiting for a worker.
    """

    def __init__(
        self, run_id: int, cursor: StreamId, say: Say, read_stored: ReadStored, reader: Reader
    ) -> None:
        self.run_id = run_id
        self.key = run_key(run_id)
        self.cursor = cursor
        self.is_over = False
        self.waits = cursor.seq == 0
        self._say = say
        self._read_stored = read_stored
        self._reader = reader
        self._held: list[Entry] | None = []
        self._excused = StreamId(0, 0)
        self._place: int | None = None
        self._is_stalled = False
        self._task: asyncio.Task[None] | None = None

    async def join(self) -> None:
        """Send the backlog, then what comes."""
        self._reader.follow(self)
        await self._catch_up()

    async def deliver(self, entries: list[Entry]) -> None:
        """Pass entries on, or hold them while older ones are under way."""
        if self._held is not None:
            self._held += entries
        elif rest := await self._pass_on(entries):
            self._held = rest
            self.start_over()

    def start_over(self) -> None:
        """Show what is stored as soon as it can be read, without waiting for it here."""
        if self._task is None or self._task.done():
            self._held = self._held or []
            self._task = asyncio.create_task(self.show_stored())

    async def show_stored(self) -> None:
        """Send the run as it is stored, and go on from there."""
        self._held = self._held or []
        if await self._show_stored():
            await self._catch_up()

    async def tell_place(self, ahead: int | None) -> None:
        """Say how many runs are ahead in the queue for a worker; None says it waits no more."""
        self.waits = ahead is not None
        if ahead not in (None, self._place):
            await self._say(frames.run_queued(self.run_id, ahead))
        self._place = ahead

    async def tell_stalled(self, is_stalled: bool) -> None:
        """Say that the run's worker seems to be dead, or that it was not."""
        if is_stalled != self._is_stalled:
            self._is_stalled = is_stalled
            await self._say(frames.run_stalled(self.run_id, is_stalled=is_stalled))

    def recover(self) -> None:
        """Do nothing: the next frame shows whether one is missing."""

    async def leave(self) -> None:
        """Follow no more."""
        if self._task is not None:
            self._task.cancel()
        await self._reader.leave(self)

    async def _catch_up(self) -> None:
        try:
            while entries := await self._reader.backlog(self):
                if rest := await self._pass_on(entries):
                    self._held = rest + (self._held or [])
                    if not await self._show_stored():
                        return
        except RedisError:
            pass  # the reader has the cursor, and sends everything once Redis is back
        await self._let_through()

    async def _let_through(self) -> None:
        while held := self._held:
            self._held = []
            if rest := await self._pass_on(held):
                self._held = rest + self._held
                if not await self._show_stored():
                    return
        self._held = None

    async def _show_stored(self) -> bool:
        """Send the run as it is stored, and tell whether it goes on."""
        snapshot = await self._stored()
        if snapshot is not None:
            self.cursor = StreamId.parse(snapshot.cursor)
            self.is_over, self.waits = snapshot.has_ended, snapshot.waits
            self._place = None
            await self._say(frames.run_snapshot(self.run_id, snapshot.cursor, snapshot.html))
            SNAPSHOTS.inc()
        if snapshot is None or snapshot.has_ended:
            self.is_over = True
            await self._reader.leave(self)
            return False
        return True

    async def _stored(self) -> Snapshot | None:
        while True:
            try:
                return await self._read_stored(self.run_id)
            except (OperationalError, InterfaceError) as error:
                logger.warning("Run %s cannot be shown yet: %s", self.run_id, error)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _pass_on(self, entries: list[Entry]) -> list[Entry]:
        """Send what is new up to the first gap, and return what lies behind it."""
        payloads: list[str] = []
        size = 0
        rest: list[Entry] = []
        for place, entry in enumerate(entries):
            if entry.id <= self.cursor:
                continue
            if entry.id > self._excused and not entry.id.follows(self.cursor):
                # What is stored stands in for the gap. Text of the turn that is being written may
                # be missing then; its end brings it all.
                logger.info(
                    "Run %s: gap in its stream, %s does not follow %s",
                    self.run_id,
                    entry.id,
                    self.cursor,
                )
                self._excused = entry.id
                rest = entries[place:]
                break
            if payloads and size + len(entry.payload) > FRAME_CHARACTERS:
                await self._send(payloads)
                payloads, size = [], 0
            self.cursor = entry.id
            self.waits = entry.id.seq == 0
            self._place = None
            self.is_over = bool(entry.mark)
            payloads.append(entry.payload)
            size += len(entry.payload)
        if payloads:
            self._is_stalled = False  # a page takes any frame for a sign of life
            await self._send(payloads)
        if self.is_over:
            await self._reader.leave(self)
        return rest

    async def _send(self, payloads: list[str]) -> None:
        await self._say(frames.events(self.run_id, self.cursor, _joined(payloads)))


class NewsFollower:
    """Tell one socket of its conversation's new runs; `knows` tells whether it was told of one.

    What comes is held until the record has been told, for after Redis was away it may be all that
    the conversation ever had.
    """

    def __init__(
        self,
        conversation_id: int,
        cursor: StreamId,
        tell: Callable[[int, str], Awaitable[None]],
        look_again: Callable[[], None],
        knows: Callable[[int], bool],
    ) -> None:
        self.conversation_id = conversation_id
        self.key = conversation_key(conversation_id)
        self.cursor = cursor
        self.recover = look_again
        self.knows = knows
        self._tell = tell
        self._held: list[Entry] | None = []

    async def deliver(self, entries: list[Entry]) -> None:
        """Tell of each new run, or hold them while the record is told."""
        if self._held is not None:
            self._held += entries
            return
        for entry in entries:
            await self._tell(int(entry.mark), entry.payload)

    async def let_through(self) -> None:
        """Tell of what came meanwhile, and from now on at once."""
        held, self._held = self._held or [], None
        await self.deliver(held)


def _joined(payloads: list[str]) -> str:
    """Make one JSON list of several, which hold an event or more each."""
    if len(payloads) == 1:
        return payloads[0]
    return f"[{','.join(payload[1:-1] for payload in payloads)}]"
