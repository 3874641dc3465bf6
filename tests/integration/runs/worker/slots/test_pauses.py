"""A server that asks for patience is left alone by all processes, and the line keeps its order."""

import signal
import threading
from collections.abc import Callable

import pytest
from redis import Redis

from agents.control import Control
from agents.errors import ProviderLimited, SlotTaken, Stopped
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots
from tests.integration.runs.worker.slots.lines import asked_for, number, wait_for, waiting
from tests.integration.runs.worker.slots.worker_process import Worker

pytestmark = [pytest.mark.services, pytest.mark.processes]


def test_a_pause_of_one_server_holds_in_every_process_and_for_no_other_server(
    redis: Redis, slots: RedisSlots, quota: Quota, worker: Callable[..., Worker]
) -> None:
    other = RedisSlots(redis)
    first = worker()

    slots.pause(quota, 60)

    first.tell("acquire")
    wait_for(lambda: number(redis, quota) == 1)
    with pytest.raises(SlotTaken):
        other.acquire(quota, Control(), wait=False)
    assert other.acquire(quota._replace(server="http://other/v1"), Control(), wait=False)


def test_a_call_whose_server_asks_for_patience_is_not_said_to_stand_in_line(
    slots: RedisSlots, quota: Quota
) -> None:
    told: list[object] = []
    slots.pause(quota, 0.6)

    slots.acquire(quota, Control(60, waiting=told.append, paused=lambda: told.append("paused")))

    assert told == ["paused", None]


def test_calls_go_in_their_old_order_when_a_pause_is_over(
    redis: Redis, slots: RedisSlots, quota: Quota, worker: Callable[..., Worker]
) -> None:
    ticket = slots.acquire(quota, Control())
    workers = [worker() for _ in range(2)]
    for count, one in enumerate(workers, start=2):
        one.tell("acquire")
        wait_for(lambda: number(redis, quota) == count)  # noqa: B023

    slots.pause(quota, 0.5)
    slots.release(quota, ticket)

    assert workers[0].says() == "got"
    wait_for(lambda: waiting(redis, quota) == 1)
    workers[0].tell("release")
    assert workers[0].says() == "gave"
    assert workers[1].says() == "got"


def test_many_calls_in_a_pause_hardly_ask_redis(
    redis: Redis, slots: RedisSlots, quota: Quota
) -> None:
    many = 60
    roomy = quota._replace(limit=many)
    before = asked_for(redis)
    slots.pause(roomy, 3)
    threads = [
        threading.Thread(target=slots.acquire, args=(roomy, Control(60))) for _ in range(many)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert redis.zcard(f"slots:{{{quota.name}}}:held") == many
    assert asked_for(redis) - before < 40 * many


def test_a_call_whose_worker_died_in_a_pause_does_not_hold_up_those_behind_it(
    redis: Redis, quota: Quota, worker: Callable[..., Worker]
) -> None:
    slots = RedisSlots(redis, place_ms=500)
    slots.pause(quota, 3)
    victim = worker()
    victim.tell("acquire")
    wait_for(lambda: waiting(redis, quota) == 1)

    victim.process.send_signal(signal.SIGKILL)

    assert slots.acquire(quota._replace(server="http://other/v1"), Control(), wait=False)


def test_a_stop_in_a_pause_ends_the_wait_at_once_and_leaves_the_line(
    redis: Redis, slots: RedisSlots, quota: Quota
) -> None:
    slots.pause(quota, 60)
    control, errors = Control(), list[Exception]()

    def wait() -> None:
        try:
            slots.acquire(quota, control)
        except Stopped as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_for(lambda: waiting(redis, quota) == 1)
    control.stop()
    thread.join(10)

    assert errors
    left = {key.rpartition(b":")[2] for key in redis.scan_iter(f"slots:{{{quota.name}}}:*")}
    assert left.isdisjoint({b"line", b"seen", b"aside", b"passed"})


def test_a_pause_that_is_too_long_to_wait_for_is_an_error_at_once(
    slots: RedisSlots, quota: Quota
) -> None:
    slots.pause(quota, 300)

    with pytest.raises(ProviderLimited, match="wants no calls for another 300 seconds"):
        slots.acquire(quota, Control())


def test_without_redis_a_process_pauses_by_itself(quota: Quota) -> None:
    slots = RedisSlots(Redis(port=1, socket_connect_timeout=0.5))

    slots.pause(quota, 300)

    with pytest.raises(ProviderLimited):
        slots.acquire(quota, Control())
