"""While Redis is away or hangs, nobody who asks waits for it, and all is well when it is back."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from redis import Redis

from chat.models import Run
from chat.runs import wake as waking
from chat.runs.wake import wake
from chat.stream.deferred import DeferredCommands, deferred
from chat.stream.streams import client, conversation_key, hasty_client, quick_client
from tests.worker_stage.proxy import Proxy
from tests.worker_stage.worker import Stage, redis_address

WaitFor = Callable[..., None]


@pytest.fixture
def redis(settings: Any) -> Iterator[Proxy]:
    """Give the way to Redis of this process's clients, but for the broker's."""
    with Proxy(redis_address(settings.REDIS_URL)) as proxy:
        settings.REDIS_URL = f"redis://127.0.0.1:{proxy.port}/0"
        forget_clients()
        yield proxy
        proxy.heal()
        assert deferred().flush(30)
    forget_clients()


def forget_clients() -> None:
    for one in (quick_client, hasty_client, client):
        one.cache_clear()


class Refusing:
    """A place where a broker was: it takes every connection, counts it and closes it."""

    def __init__(self) -> None:
        self.asked = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._refuse, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _refuse(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self._listener.accept()
                self.asked += 1
                one.close()


def test_twelve_questions_are_stored_while_a_redis_that_hangs_is_told_of_the_first(
    redis: Proxy, asked: Callable[..., Run], valkey: Redis
) -> None:
    first = asked([])
    assert deferred().flush(20)
    redis.hang()
    runs = [asked([]) for _ in range(12)]

    assert not deferred().flush(0)
    assert Run.objects.filter(pk__in=[run.pk for run in runs]).count() == 12
    redis.heal()
    assert deferred().flush(60)
    newest: Any = valkey.xrevrange(conversation_key(first.conversation_id), count=1)
    assert int(newest[0][1][b"run"]) == runs[-1].pk


def test_a_wake_up_is_tried_once_where_the_broker_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = Refusing()
    monkeypatch.setattr(current_app.conf, "broker_write_url", f"redis://127.0.0.1:{nobody.port}/0")
    waking._producers.cache_clear()
    try:
        wake(1)
        assert deferred().flush(60)
        assert nobody.asked == 1
    finally:
        waking._producers.cache_clear()
        nobody.close()


@pytest.mark.processes
def test_a_worker_asks_for_its_broker_until_it_is_back_and_hears_of_questions_again(
    worker: Stage, valkey: Redis, wait_for: WaitFor
) -> None:
    wait_for(lambda: said(worker, "ready."), "the worker", seconds=40)
    worker.redis.cut()
    wait_for(lambda: said(worker, "Trying again in"), "the worker to notice")
    worker.redis.heal()

    wake(1)
    assert deferred().flush(20)
    wait_for(lambda: not valkey.llen("celery"), "the wake-up to be heard", seconds=40)
    assert settings.CELERY_BROKER_CONNECTION_MAX_RETRIES is None


def said(worker: Stage, words: str) -> bool:
    return worker.log.exists() and words in worker.log.read_text()


def test_a_deferred_command_that_fails_keeps_no_other_from_being_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[int] = []
    mine = DeferredCommands()
    mine.add(partial(done.remove, 7))
    mine.add(partial(done.append, 1))

    assert mine.flush(20)
    assert done == [1]
    assert "A deferred command failed" in caplog.text


def test_of_more_deferred_commands_than_can_wait_the_oldest_are_missed() -> None:
    begun, goes_on = threading.Event(), threading.Event()
    done: list[int] = []
    mine = DeferredCommands()

    def hold_up() -> None:
        begun.set()
        goes_on.wait(60)

    mine.add(hold_up)
    begun.wait(60)
    for number in range(1_005):
        mine.add(partial(done.append, number))
    goes_on.set()

    assert mine.flush(20)
    assert done == list(range(5, 1_005))
