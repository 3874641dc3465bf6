"""The way of a worker's events into Redis: one thread a process, one pipeline every 50 ms.

The stream is the live tail and Postgres the record, so that Redis may be away: frames wait within
bounds, and a reader that finds one missing is sent what is stored. Redis refuses an id that is not
above the stream's top; that is how a repeated frame and a worker that lost its run are noticed.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError, ResponseError

from agents.control import Control
from chat.metrics.instruments import STREAM_LAG_SECONDS
from chat.stream.channel import Batch, Channel, Room
from chat.stream.streams import (
    ABANDONED_SECONDS,
    KEPT_SECONDS,
    MAX_FRAMES,
    StreamId,
    client,
    run_key,
)

if TYPE_CHECKING:
    from redis.client import Pipeline

logger = logging.getLogger(__name__)

TICK = 0.05
BACKOFF = (0.05, 1.0)
MAX_AT_ONCE = 4_000_000
"""How many characters one transaction carries, of what has waited while Redis was away."""
GIVE_UP_SECONDS = 60.0
"""How long the frames of an ended run wait for Redis."""


class Publisher:
    """Flush the channels of all runs of this process from one thread."""

    def __init__(self) -> None:
        self._channels: dict[tuple[int, int], Channel] = {}
        self._room = Room()
        self._lock = threading.Lock()
        self._dirty = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def open(self, run_id: int, attempt: int, control: Control) -> Channel:
        """Return the channel of one attempt; `control` is interrupted if it lost its run."""
        channel = Channel(run_id, attempt, control, self._dirty, self._room)
        with self._lock:
            self._channels[run_id, attempt] = channel
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._flush_for_ever, name="publisher", daemon=True
                )
                self._thread.start()
        return channel

    def flush(self, seconds: float) -> bool:
        """Wait until everything put so far is in Redis, and tell whether it is."""
        deadline = time.monotonic() + seconds
        while self._pending() and time.monotonic() < deadline:
            self._dirty.set()
            time.sleep(TICK / 4)
        return not self._pending()

    def close(self, seconds: float) -> None:
        """Flush what was put so far, within so many seconds, and end the thread."""
        self.flush(seconds)
        self._is_closed = True
        self._dirty.set()

    def _pending(self) -> list[Channel]:
        with self._lock:
            channels = list(self._channels.values())
        return [channel for channel in channels if channel.is_dirty()]

    def _flush_for_ever(self) -> None:
        backoff = BACKOFF[0]
        flushed = 0.0
        while not self._is_closed:
            self._dirty.wait()
            time.sleep(max(0.0, flushed + TICK - time.monotonic()))
            self._dirty.clear()
            flushed = time.monotonic()
            try:
                self._flush(self._pending())
                backoff = BACKOFF[0]
            except Exception as error:
                # The thread serves every run of the process: whatever happens, it goes on.
                if backoff == BACKOFF[0]:
                    logger.warning("Live frames wait for Redis: %s", error)
                    if not isinstance(error, RedisError):
                        logger.exception("The publisher failed")
                time.sleep(backoff)
                backoff = min(2 * backoff, BACKOFF[1])
                self._dirty.set()
            self._forget()

    def _flush(self, channels: Sequence[Channel]) -> None:
        # One transaction wakes the readers once for all runs, not once for the first.
        pipeline = client().pipeline(transaction=True)
        sent = [
            (channel, batch, _add(pipeline, channel, batch))
            for channel, batch in self._of_one_flush(channels)
        ]
        replies = pipeline.execute(raise_on_error=False)
        if sent:
            oldest = min(batch.since for _, batch, _ in sent)
            STREAM_LAG_SECONDS.observe(time.monotonic() - oldest)
        for channel, batch, place in sent:
            if isinstance(replies[place], Exception):
                self._refused(channel, batch, replies[place])
            else:
                channel.delivered(batch)

    def _of_one_flush(self, channels: Sequence[Channel]) -> Iterator[tuple[Channel, Batch]]:
        """Yield what goes into one transaction; the rest goes into the next."""
        size = 0
        for channel in channels:
            for batch in channel.batches():
                if size and size + len(batch.payload) > MAX_AT_ONCE:
                    self._dirty.set()
                    return
                size += len(batch.payload)
                yield channel, batch

    def _refused(self, channel: Channel, batch: Batch, error: Exception) -> None:
        if not isinstance(error, ResponseError) or "equal or smaller" not in str(error):
            raise error
        newest: Any = client().xrevrange(run_key(channel.run_id), count=1)
        top = StreamId.parse(newest[0][0].decode()) if newest else StreamId(0, 0)
        if top.attempt > channel.attempt:
            logger.info("Run %s went on elsewhere; this worker releases it", channel.run_id)
            channel.abandon()
            channel.control.interrupt()
        else:
            channel.delivered(batch)  # Redis had it, and only its answer was lost

    def _forget(self) -> None:
        with self._lock:
            for key, channel in list(self._channels.items()):
                if channel.is_over(GIVE_UP_SECONDS):
                    del self._channels[key]
                    channel.abandon()


def _add(pipeline: "Pipeline", channel: Channel, batch: Batch) -> int:
    """Queue the commands of one batch, and return the place of its XADD among all replies."""
    key = run_key(channel.run_id)
    place = len(pipeline)
    fields: dict[Any, Any] = {"d": batch.payload}
    if batch.ends:
        fields["end"] = 1
    pipeline.xadd(key, fields, id=str(batch.id), maxlen=MAX_FRAMES, approximate=True)
    if batch.keeps:
        pipeline.expire(key, KEPT_SECONDS if batch.ends else ABANDONED_SECONDS)
    return place
