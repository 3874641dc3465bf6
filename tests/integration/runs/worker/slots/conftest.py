"""A quota in a real Redis, and processes that want its slots."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from redis import Redis

from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots
from tests.integration.runs.worker.slots.worker_process import Worker


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
