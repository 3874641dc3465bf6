"""No stream stays in Redis for ever, whatever becomes of its run and of Redis."""

from collections.abc import Callable

from redis import Redis

from agents.control import Control
from chat.models import Run
from chat.runs.lease import release
from chat.runs.worker.claim import claim
from chat.stream.announce import announce_interrupted
from chat.stream.channel import KEPT_FRAMES
from chat.stream.deferred import deferred
from chat.stream.streams import ABANDONED_SECONDS, KEPT_SECONDS, conversation_key, run_key
from tests.integration.here import here


def left(valkey: Redis, key: str) -> int:
    """Return the seconds that a stream has left, below 0 for no limit."""
    assert valkey.exists(key)
    return int(valkey.ttl(key))


def test_the_streams_of_a_run_are_kept_for_a_while_after_its_end(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = asked([{"say": "Thought: hm\nFinal Answer: 4"}])
    here().work(run.pk)
    assert here().publisher.flush(20)
    assert deferred().flush(20)

    assert 0 < left(valkey, run_key(run.pk)) <= KEPT_SECONDS
    assert 0 < left(valkey, conversation_key(run.conversation_id)) <= KEPT_SECONDS


def test_a_run_that_nobody_ends_is_kept_for_longer_and_not_for_ever(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = claim(asked([]).pk, "a worker that dies")
    assert run is not None
    here().publisher.open(run.pk, run.attempt, Control()).put({"type": "run.started", "attempt": 1})
    assert here().publisher.flush(20)
    begun = left(valkey, run_key(run.pk))
    valkey.delete(run_key(run.pk))
    release(run)
    announce_interrupted(run)
    assert deferred().flush(20)

    assert KEPT_SECONDS < begun <= ABANDONED_SECONDS
    assert KEPT_SECONDS < left(valkey, run_key(run.pk)) <= ABANDONED_SECONDS


def test_a_stream_that_redis_lost_on_the_way_is_not_kept_for_ever_either(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = claim(asked([]).pk, "a worker")
    assert run is not None
    channel = here().publisher.open(run.pk, run.attempt, Control())
    channel.put({"type": "run.started", "attempt": 1})
    assert here().publisher.flush(20)
    valkey.delete(run_key(run.pk))
    for _ in range(KEPT_FRAMES):
        channel.put({"type": "thought.delta", "index": 0, "text": "x"})
        channel.seal()
    assert here().publisher.flush(20)

    assert KEPT_SECONDS < left(valkey, run_key(run.pk)) <= ABANDONED_SECONDS
