"""Slots in a real Redis: one limit for all processes, first come, first served, none lost."""

import signal
import threading
from collections.abc import Callable

import pytest
from redis import Redis

from agents.control import Control
from agents.errors import SlotTaken, Stopped
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots
from tests.integration.runs.worker.slots.lines import expiry, wait_for, waiting
from tests.integration.runs.worker.slots.worker_process import Worker

pytestmark = [pytest.mark.services, pytest.mark.processes]


def test_the_limit_holds_across_processes_and_the_line_is_in_order(
    redis: Redis, slots: RedisSlots, quota: Quota, worker: Callable[..., Worker]
) -> None:
    ticket = slots.acquire(quota, Control())
    workers = [worker() for _ in range(3)]
    for number, one in enumerate(workers, start=1):
        one.tell("acquire")
        wait_for(lambda: waiting(redis, quota) == number)  # noqa: B023
    slots.release(quota, ticket)

    for number, one in enumerate(workers, start=1):
        assert one.says() == "got"
        assert waiting(redis, quota) == len(workers) - number
        with pytest.raises(SlotTaken):
            slots.acquire(quota, Control(), wait=False)
        one.tell("release")
        assert one.says() == "gave"
    assert slots.acquire(quota, Control(), wait=False)


def test_a_killed_worker_frees_its_slot(
    slots: RedisSlots, quota: Quota, worker: Callable[..., Worker]
) -> None:
    victim = worker(lease_ms=500)
    victim.tell("acquire")
    assert victim.says() == "got"

    victim.process.send_signal(signal.SIGKILL)

    assert slots.acquire(quota, Control(20))


def test_a_worker_killed_in_line_does_not_hold_up_those_behind_it(
    redis: Redis, quota: Quota, worker: Callable[..., Worker]
) -> None:
    slots = RedisSlots(redis, place_ms=500)
    ticket = slots.acquire(quota, Control())
    victim = worker()
    victim.tell("acquire")
    wait_for(lambda: waiting(redis, quota) == 1)

    victim.process.send_signal(signal.SIGKILL)
    slots.release(quota, ticket)

    assert slots.acquire(quota, Control(20))


def test_a_slot_is_held_for_longer_than_its_lease_while_its_worker_lives(
    redis: Redis, quota: Quota
) -> None:
    slots = RedisSlots(redis, lease_ms=1500)
    ticket = slots.acquire(quota, Control())
    expires = expiry(redis, quota, ticket)

    def is_held_for_longer() -> bool:
        with pytest.raises(SlotTaken):  # who asks takes what has expired
            slots.acquire(quota, Control(), wait=False)
        return expiry(redis, quota, ticket) >= expires + 1500

    wait_for(is_held_for_longer)

    slots.release(quota, ticket)
    assert redis.zcard(f"slots:{{{quota.name}}}:held") == 0


def test_one_thread_renews_all_slots_of_a_process(slots: RedisSlots, quota: Quota) -> None:
    def renewing() -> int:
        return sum(thread.name == "slots" for thread in threading.enumerate())

    before = renewing()
    for _ in range(3):
        slots.release(quota, slots.acquire(quota, Control()))

    assert renewing() == before + 1


def test_a_slot_that_was_given_back_is_not_renewed(
    redis: Redis, slots: RedisSlots, quota: Quota
) -> None:
    ticket = slots.acquire(quota, Control())
    slots.release(quota, ticket)

    slots.renew(quota, ticket)

    assert redis.zcard(f"slots:{{{quota.name}}}:held") == 0


def test_a_stopped_wait_ends_at_once_and_leaves_the_line(
    redis: Redis, slots: RedisSlots, quota: Quota
) -> None:
    slots.acquire(quota, Control())
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
    thread.join(1)

    assert not thread.is_alive()
    assert errors
    assert waiting(redis, quota) == 0


def test_a_waiting_call_tells_its_run_how_many_are_ahead(
    redis: Redis, slots: RedisSlots, quota: Quota, worker: Callable[..., Worker]
) -> None:
    told: list[int | None] = []
    ticket = slots.acquire(quota, Control())
    first = worker()
    first.tell("acquire")
    wait_for(lambda: waiting(redis, quota) == 1)

    call = threading.Thread(target=slots.acquire, args=(quota, Control(60, waiting=told.append)))
    call.start()
    wait_for(lambda: told == [1])
    slots.release(quota, ticket)
    wait_for(lambda: told == [1, 0])
    assert first.says() == "got"
    first.tell("release")
    call.join(30)

    assert told == [1, 0, None]


def test_many_threads_never_hold_more_than_there_is(redis: Redis, quota: Quota) -> None:
    slots, three = RedisSlots(redis), quota._replace(limit=3)
    under_way, most, lock = [0], [0], threading.Lock()

    def work() -> None:
        for _ in range(5):
            ticket = slots.acquire(three, Control(60))
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            with lock:
                under_way[0] -= 1
            slots.release(three, ticket)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert not any(thread.is_alive() for thread in threads)
    assert 1 <= most[0] <= 3
    assert waiting(redis, three) == redis.zcard(f"slots:{{{quota.name}}}:held") == 0


def test_one_local_model_is_at_work_at_a_time(slots: RedisSlots, quota: Quota) -> None:
    one, other = quota._replace(limit=2, model="a"), quota._replace(limit=2, model="b")
    tickets = [slots.acquire(one, Control()) for _ in range(2)]
    slots.release(one, tickets[0])

    with pytest.raises(SlotTaken) as refused:
        slots.acquire(other, Control(), wait=False)

    assert refused.value.model == "a"
    slots.release(one, tickets[1])
    assert slots.acquire(other, Control(), wait=False)


def test_without_redis_each_process_keeps_the_limit_by_itself(quota: Quota) -> None:
    slots = RedisSlots(Redis(port=1, socket_connect_timeout=0.5))
    ticket = slots.acquire(quota, Control())

    with pytest.raises(SlotTaken):
        slots.acquire(quota, Control(), wait=False)

    slots.release(quota, ticket)
    assert slots.acquire(quota, Control(), wait=False)
