"""Slots for model calls that all workers share, held in Redis.

A quota is a line of tickets and a set of held slots. The line is first come, first served, but that
calls which give way stand behind all others: each waiting call asks again every few moments, and
nobody is let in before those ahead. A slot is a
lease: a worker that dies renews no more, and its slots and its places in the queue are free again
within seconds. While Redis is away each process keeps the limit by itself, so that runs go on.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import RedisError

from agents.control import Control
from agents.model.slots import MAX_PAUSE, InProcessSlots, Quota, check_pause, taken, telling
from chat.metrics.instruments import PROVIDER_WAIT_SECONDS

logger = logging.getLogger(__name__)

LEASE_MS = 30_000
"""How long a slot outlives a worker that died."""
PLACE_MS = 5_000
"""How long a place in the queue outlives a call that no longer asks."""
RENEW_SECONDS = 10.0
FIRST_WAIT, MAX_WAIT = 0.02, 0.25
"""Seconds between two questions: of the first in the queue, and of those far behind."""

_PARTS = ("held", "line", "seen", "passed", "aside", "next", "model")
_OF_A_TICKET = 5
"""How many of the parts may name a ticket; it is in `aside` for as long as it is in `passed`."""
_ADMITTED, _PAUSED = 1, 2

_BEHIND = 10**12
"""What is added to the number of a call that gives way; Lua writes 14 digits of a number."""

# Of one quota: held and seen map tickets to the time they expire, line to their number, aside to
# the time until which their server is paused: so long others pass them, and they keep their place.
# Passed maps those to their number, so that how many of them are ahead is counted and not looked up
# one by one: with hundreds in a pause that took all of Redis. Who is paused asks again at its end.
_ACQUIRE = """
local held, line, seen, passed, aside, next, model = unpack(KEYS, 1, 7)
local ticket, limit, wanted = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
for _, back in ipairs(redis.call('ZRANGEBYSCORE', aside, '-inf', now)) do
  redis.call('ZREM', passed, back)
  redis.call('ZREM', aside, back)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now)) do
  redis.call('ZREM', line, gone)
  redis.call('ZREM', passed, gone)
  redis.call('ZREM', aside, gone)
  redis.call('ZREM', seen, gone)
end
local number = redis.call('ZSCORE', line, ticket)
if not number then
  number = redis.call('INCR', next) + tonumber(ARGV[6])
  redis.call('ZADD', line, number, ticket)
end
local before = redis.call('ZCOUNT', passed, '-inf', '(' .. number)
local ahead = redis.call('ZRANK', line, ticket) - before
local pause = redis.call('PTTL', KEYS[8])
if pause > 0 then
  redis.call('ZADD', aside, now + pause, ticket)
  redis.call('ZADD', passed, number, ticket)
  redis.call('ZADD', seen, now + pause + tonumber(ARGV[5]), ticket)
  return {2, ahead, '', pause}
end
redis.call('ZREM', passed, ticket)
redis.call('ZREM', aside, ticket)
local count = redis.call('ZCARD', held)
local current = redis.call('GET', model) or ''
local free = limit - count
if wanted ~= '' and count > 0 and current ~= wanted then free = 0 end
if (ahead == 0 and free > 0) or (wanted == '' and ahead < free) then
  redis.call('ZREM', line, ticket)
  redis.call('ZREM', seen, ticket)
  redis.call('ZADD', held, now + tonumber(ARGV[4]), ticket)
  redis.call('SET', model, wanted)
  return {1, 0, '', 0}
end
redis.call('ZADD', seen, now + tonumber(ARGV[5]), ticket)
return {0, ahead, current, 0}
"""
_PAUSE = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
end
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
        self._pause = client.register_script(_PAUSE)
        self._lock = threading.Lock()
        self._held: dict[str, Quota] = {}
        self._alone = InProcessSlots()
        self._alone_held: dict[str, str] = {}
        self._thread: threading.Thread | None = None

    def acquire(self, quota: Quota, control: Control, *, wait: bool = True) -> str:
        """Return the ticket of a slot, waiting for it in the queue of all workers."""
        ticket = uuid.uuid4().hex
        try:
            with PROVIDER_WAIT_SECONDS.labels(quota.name).time():
                self._wait(quota, ticket, control, wait)
        except RedisError as error:
            logger.warning("Slots are kept by this process alone, Redis is away: %s", error)
            self._alone_held[ticket] = self._alone.acquire(quota, control, wait=wait)
            return ticket
        except BaseException:
            self._forget(quota, ticket)
            raise
        with self._lock:
            self._held[ticket] = quota
            self._ensure_thread()
        return ticket

    def pause(self, quota: Quota, seconds: float) -> None:
        """Give no slot for the quota's server for so long, in any process."""
        milliseconds = int(min(seconds, MAX_PAUSE) * 1000)
        if milliseconds <= 0:
            return
        self._alone.pause(quota, seconds)
        try:
            self._pause(keys=_keys(quota)[-1:], args=[milliseconds])
        except RedisError as error:
            logger.warning("Only this process pauses its calls, Redis is away: %s", error)

    def renew(self, quota: Quota, ticket: str) -> None:
        """Prolong the lease of a slot; raises RedisError."""
        self._renew(keys=_keys(quota)[:1], args=[ticket, self._lease_ms])

    def release(self, quota: Quota, ticket: str) -> None:
        """Give a slot back; without Redis it ends with its lease."""
        alone = self._alone_held.pop(ticket, None)
        if alone is not None:
            self._alone.release(quota, alone)
            return
        with self._lock:
            self._held.pop(ticket, None)
        self._forget(quota, ticket)

    def _wait(self, quota: Quota, ticket: str, control: Control, wait: bool) -> None:
        control.check()
        behind = _BEHIND if quota.gives_way else 0
        arguments = [ticket, quota.limit, quota.model, self._lease_ms, self._place_ms, behind]
        with telling(control) as tell:
            while True:
                answer = self._answer(quota, arguments)
                if answer.state == _ADMITTED:
                    return
                if not wait:
                    raise taken(quota, answer.model.decode())
                if answer.state == _PAUSED:
                    check_pause(quota, answer.wait_seconds(), control)
                _sleep(answer, control, tell)

    def _answer(self, quota: Quota, arguments: list[Any]) -> "_Answer":
        answer: Any = self._acquire(keys=_keys(quota), args=arguments)
        return _Answer(*answer)

    def _forget(self, quota: Quota, ticket: str) -> None:
        try:
            pipeline = self._client.pipeline(transaction=False)
            for key in _keys(quota)[:_OF_A_TICKET]:
                pipeline.zrem(key, ticket)
            pipeline.execute()
        except RedisError as error:
            logger.warning("A slot of %s is free when its lease ends: %s", quota.name, error)

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
                for ticket, quota in held:
                    self.renew(quota, ticket)
            except RedisError as error:
                logger.warning("Slots could not be renewed: %s", error)


class _Answer(NamedTuple):
    """What Redis says to a call that wants a slot."""

    state: int
    ahead: int
    model: bytes
    pause_ms: int

    def wait_seconds(self) -> float:
        """Return when to ask again."""
        if self.state == _PAUSED:
            return self.pause_ms / 1000
        return min(MAX_WAIT, FIRST_WAIT * (self.ahead + 1))


def _sleep(answer: _Answer, control: Control, tell: Callable[..., None]) -> None:
    """Wait until it is time to ask again; that the run must not go on is noticed at any moment."""
    until = time.monotonic() + answer.wait_seconds()
    while True:
        tell(answer.ahead, is_paused=answer.state == _PAUSED)
        left = until - time.monotonic()
        control.wait(min(MAX_WAIT, left))
        control.safe_point()
        if left <= MAX_WAIT:
            return


@cache
def _keys(quota: Quota) -> list[str]:
    server = sha256(quota.server.encode()).hexdigest()[:16]
    parts = (*_PARTS, f"paused:{server}")
    return [f"slots:{{{quota.name}}}:{part}" for part in parts]
