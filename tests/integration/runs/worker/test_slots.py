"""Slots in a real Redis: one limit for all processes, first come, first served, none lost."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from redis import Redis

from agents.control import Control
from agents.errors import ProviderLimited, SlotTaken, Stopped
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots

pytestmark = [pytest.mark.services, pytest.mark.processes]

WORKER = """
import sys
from redis import Redis
from agents.control import Control
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots

url, name, limit, lease = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
slots, quota = RedisSlots(Redis.from_url(url), lease_ms=lease), Quota(name, limit)
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "acquire":
        ticket = slots.acquire(quota, Control(60))
        print("got", flush=True)
    else:
        slots.release(quota, ticket)
        print("gave", flush=True)
"""


class Worker:
    """A worker process that takes and gives back one slot, as it is told."""

    def __init__(self, quota: Quota, lease_ms: int = 30_000) -> None:
        arguments = [settings.REDIS_URL, quota.name, str(quota.limit), str(lease_ms)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=settings.BASE_DIR,
            env=os.environ,
        )
        assert self.says() == "ready"

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL)


@pytest.fixture
def quota(redis: Redis) -> Iterator[Quota]:
    quota = Quota(f"test-{uuid.uuid4().hex}", 1)
    yield quota
    for key in redis.scan_iter(f"slots:{{{quota.name}}}:*"):
        redis.delete(key)


@pytest.fixture
def slots(redis: Redis) -> RedisSlots:
    return RedisSlots(redis)


@pytest.fixture
def worker(quota: Quota) -> Iterator[Callable[..., Worker]]:
    workers: list[Worker] = []

    def start(**options: Any) -> Worker:
        workers.append(Worker(quota, **options))
        return workers[-1]

    yield start
    for one in workers:
        one.end()


def waiting(redis: Redis, quota: Quota) -> int:
    return int(redis.zcard(f"slots:{{{quota.name}}}:line"))


def number(redis: Redis, quota: Quota) -> int:
    """Return how many calls have come to the quota."""
    return int(redis.get(f"slots:{{{quota.name}}}:next") or 0)


def expiry(redis: Redis, quota: Quota, ticket: str) -> float:
    score = redis.zscore(f"slots:{{{quota.name}}}:held", ticket)
    assert score is not None, "The slot is not held any more."
    return float(score)


def asked_for(redis: Redis) -> int:
    """Return how many commands on lines Redis has done, those of scripts among them."""
    stats: Any = redis.info("commandstats")
    lines = [name for name in stats if name.startswith(("cmdstat_z", "cmdstat_eval"))]
    return sum(stats[name]["calls"] for name in lines)


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("It never came to that.")


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
