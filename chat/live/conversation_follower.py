"""What one page follows of a conversation: the runs it shows, and the news of new ones."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from chat.live import client_frames
from chat.live.access import Access, News, in_database, known_runs, news, stored
from chat.live.followers import NewsFollower, RunFollower, Say, Snapshot
from chat.live.reader import reader
from chat.live.reconcile import sweep
from chat.stream import frames
from chat.stream.streams import StreamId, conversation_key

MAX_TOLD = 100
"""After so many runs that Redis told of, the record is asked up to where none is missing."""


class Position(NamedTuple):
    """Where a page stands, as a hello says it: the cursors of its live runs, its newest run."""

    cursors: dict[int, str]
    after: int


class ConversationFollower:
    """Send one page each run of its conversation once, and the frames of those that are live.

    `spawn` has work done without waiting for it; `look_again` has the page's right to read checked,
    and the record asked for runs that it lacks.
    """

    def __init__(
        self,
        conversation_id: int,
        say: Say,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        look_again: Callable[[], None],
    ) -> None:
        self._conversation_id = conversation_id
        self._say = say
        self._spawn = spawn
        self._look_again = look_again
        self._runs: dict[int, RunFollower] = {}
        self._news: NewsFollower | None = None
        self._after = 0
        self._settled = 0
        self._told: set[int] = set()

    @property
    def position(self) -> Position:
        """Return where the page stands that has read everything sent so far."""
        live = (follower for follower in self._runs.values() if not follower.is_over)
        cursors = {follower.run_id: str(follower.cursor) for follower in live}
        return Position(cursors, self._settled)

    @property
    def told(self) -> frozenset[int]:
        """Return the newer runs that the page was told of one by one."""
        return frozenset(self._told)

    @property
    def is_following(self) -> bool:
        """Tell whether a hello was answered and nothing ended it since."""
        return self._news is not None

    async def resume(self, frame: client_frames.Hello, rights: Access) -> None:
        """Send what a page lacks that stands where its hello says, and then what comes."""
        await self.leave()
        cursors = _parsed(frame.cursors)
        self._after = self._settled = frame.after
        self._told = set(cursors)
        feed = await self._follow_news()
        try:
            await self._tell_record(rights, cursors)
        finally:
            await feed.let_through()

    async def tell_of_news(self, rights: Access) -> int:
        """Tell of the runs that the record has, and return the last one without any before it left.

        What Redis tells of may come without one that was asked before. The record has no such gap:
        who asks holds the conversation's lock, so no lower number comes later.
        """
        runs = await in_database(news, rights.conversation, self._after)
        for run in runs:
            if not self._knows(run.run_id):
                await self.tell_of(run)
        self._after = max((run.run_id for run in runs), default=self._after)
        self._told = {run_id for run_id in self._told if run_id > self._after}
        return self._after

    async def tell_of(self, run: News) -> None:
        """Tell of a run, and follow it if it is live and not followed yet."""
        self._told.add(run.run_id)
        follower = None
        if not run.has_ended and run.run_id not in self._runs:
            follower = self._follower(run.run_id, StreamId.parse(run.cursor))
        await self._say(run.frame)
        if follower is not None:
            await self._join(follower)

    async def leave(self) -> None:
        """Follow nothing more."""
        followers = [*self._runs.values(), self._news]
        self._runs, self._news = {}, None
        for follower in followers:
            if isinstance(follower, RunFollower):
                await follower.leave()
            elif follower is not None:
                await reader().leave(follower)

    async def _tell_record(self, rights: Access, cursors: dict[int, StreamId]) -> None:
        here = await in_database(known_runs, rights.conversation, cursors.keys())
        if here.keys() != cursors.keys():
            await self._say(frames.error("not_found", "The page shows a run that is not here."))
        followers = [self._follower(run_id, cursors[run_id]) for run_id in here]
        # All at once, for while Redis hangs each of them waits until it is given up.
        await asyncio.gather(
            *(one.show_stored() if here[one.run_id] else one.join() for one in followers)
        )
        self._settled = await self.tell_of_news(rights)
        await self._say(frames.caught_up(self._settled))

    async def _follow_news(self) -> NewsFollower:
        key = conversation_key(self._conversation_id)
        try:
            cursor = await reader().top(key)
        except RedisError:
            cursor = StreamId(0, 0)
        self._news = feed = NewsFollower(
            self._conversation_id, cursor, self._announced, self._look_again, self._knows
        )
        reader().follow(feed)
        sweep()
        return feed

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
                self._look_again()

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


def _parsed(cursors: dict[int, str]) -> dict[int, StreamId]:
    try:
        return {run_id: StreamId.parse(cursor) for run_id, cursor in cursors.items()}
    except ValueError as error:
        raise client_frames.InvalidFrame(
            "wrong_shape", f"In a hello message, cursors: {error}"
        ) from None
