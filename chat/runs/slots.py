"""Slots for model calls that all workers share, held in Redis.

A lane is a line of tickets and a set of held slots. The line is first come, first served: each
waiting call asks again every few moments, and nobody is let in before those ahead. A slot is a
lease: a worker that dies renews no more, and its slots and its places in the line are free again
within seconds. While Redis is away each process keeps the limit by itself, so that runs go on.
"""

import logging
import threading
import uuid
from functools import cache
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from agents.control import Control
from agents.reasoning.slots import InProcessSlots, Lane, taken

logger = logging.getLogger(__name__)

LEASE_MS = 30_000
"""How long a slot outlives a worker that died."""
PLACE_MS = 5_000
"""How long a place in the line outlives a call that no longer asks."""
RENEW_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 0.02, 0.25
"""Seconds between two questions: of the first in line, and of those far behind."""

_PARTS = ("held", "line", "seen", "next", "model")

# Of one lane: held and seen map tickets to the time they expire, line to their number.
_ACQUIRE = """
local held, line, seen, number, model = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ticket, limit, wanted = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now)) do
  redis.call('ZREM', line, gone)
  redis.call('ZREM', seen, gone)
end
if not redis.call('ZSCORE', line, ticket) then
  redis.call('ZADD', line, redis.call('INCR', number), ticket)
end
local ahead = redis.call('ZRANK', line, ticket)
local count = redis.call('ZCARD', held)
local current = redis.call('GET', model) or ''
local free = limit - count
if wanted ~= '' and count > 0 and current ~= wanted then free = 0 end
if (ahead == 0 and free > 0) or (wanted == '' and ahead < free) then
  redis.call('ZREM', line, ticket)
  redis.call('ZREM', seen, ticket)
  redis.call('ZADD', held, now + tonumber(ARGV[4]), ticket)
  redis.call('SET', model, wanted)
  return {1, 0, ''}
end
redis.call('ZADD', seen, now + tonumber(ARGV[5]), ticket)
return {0, ahead, current}
"""
_RENEW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZADD', KEYS[1], 'XX', 'CH', now + tonumber(ARGV[2]), ARGV[1])
"""


class RedisSlots:
    """Hold the limits of all processes that use one Redis; a thread renews what this one holds."""

    def __init__(
        self, client: Redis, *, lease_ms: int = LEASE_MS, place_ms: int = PLACE_MS
    ) -> None:
        self._client = client
        self._lease_ms, self._place_ms = lease_ms, place_ms
        self._acquire = client.register_script(_ACQUIRE)
        self._renew = client.register_script(_RENEW)
        self._lock = threading.Lock()
        self._held: dict[str, Lane] = {}
        self._alone = InProcessSlots()
        self._alone_held: dict[str, str] = {}
        self._thread: threading.Thread | None = None

    def acquire(self, lane: Lane, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, waiting for it in the line of all workers."""
        ticket = uuid.uuid4().hex
        try:
            self._wait(lane, ticket, control, wait)
        except RedisError as error:
            logger.warning("Slots are kept by this process alone, Redis is away: %s", error)
            self._alone_held[ticket] = self._alone.acquire(lane, control, wait=wait)
            return ticket
        except BaseException:
            self._forget(lane, ticket)
            raise
        with self._lock:
            self._held[ticket] = lane
            self._ensure_thread()
        return ticket

    def renew(self, lane: Lane, ticket: str) -> None:
        """Prolong the lease of a slot; raises RedisError."""
        self._renew(keys=_keys(lane)[:1], args=[ticket, self._lease_ms])

    def release(self, lane: Lane, ticket: str) -> None:
        """Give a slot back; without Redis it ends with its lease."""
        alone = self._alone_held.pop(ticket, None)
        if alone is not None:
            self._alone.release(lane, alone)
            return
        with self._lock:
            self._held.pop(ticket, None)
        self._forget(lane, ticket)

    def _wait(self, lane: Lane, ticket: str, control: Control, wait: bool) -> None:
        control.check()
        arguments = [ticket, lane.limit, lane.model, self._lease_ms, self._place_ms]
        while True:
            admitted, ahead, model = self._answer(lane, arguments)
            if admitted:
                return
            if not wait:
                raise taken(lane, model.decode())
            control.wait(min(LONGEST_WAIT, FIRST_WAIT * (ahead + 1)))

    def _answer(self, lane: Lane, arguments: list[Any]) -> tuple[int, int, bytes]:
        admitted, ahead, model = self._acquire(keys=_keys(lane), args=arguments)
        return admitted, ahead, model

    def _forget(self, lane: Lane, ticket: str) -> None:
        try:
            pipeline = self._client.pipeline(transaction=False)
            for key in _keys(lane)[:3]:
                pipeline.zrem(key, ticket)
            pipeline.execute()
        except RedisError as error:
            logger.warning("A slot of %s is free when its lease ends: %s", lane.name, error)

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._keep, name="slots", daemon=True)
            self._thread.start()

    def _keep(self) -> None:
        """Renew what is held for as long as the process lives."""
        pause = threading.Event()
        while not pause.wait(min(RENEW_SECONDS, self._lease_ms / 3000)):
            with self._lock:
                held = list(self._held.items())
            try:
                for ticket, lane in held:
                    self.renew(lane, ticket)
            except RedisError as error:
                logger.warning("Slots could not be renewed: %s", error)


@cache
def _keys(lane: Lane) -> list[str]:
    return [f"slots:{{{lane.name}}}:{part}" for part in _PARTS]
