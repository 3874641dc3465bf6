"""Runs wait for their slot at a model server, one after the other, and can be stopped there."""

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings
from redis import Redis

from agents.control import Control
from agents.model.pool import LOCAL, Managed
from agents.providers.choice import ModelChoice
from chat.models import Conversation, PolicyVersion, Run, RunStatus, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop
from chat.stream.streams import run_key
from tests.integration.here import here
from tests.integration.runs.worker.slots.lines import wait_for
from tests.integration.runs.worker.slots.model_server import Server

pytestmark = pytest.mark.services


def waiting(redis: Redis) -> int:
    return int(redis.zcard(f"slots:{{{LOCAL}}}:line"))


def told(redis: Redis, run: Run) -> list[dict[str, Any]]:
    """Return the events of the run's stream so far."""
    entries: Any = redis.xrange(run_key(run.pk))
    return [event for _, fields in entries for event in json.loads(fields[b"d"])]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.may_answer.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def other() -> Iterator[Server]:
    other = Server()
    other.may_answer.set()
    threading.Thread(target=other.serve_forever, daemon=True).start()
    yield other
    other.shutdown()
    other.server_close()


@pytest.fixture
def limited(settings: Settings) -> Callable[[int], None]:
    """Set the limit for local models, before there is a worker."""

    def limit(calls: int) -> None:
        settings.LOCAL_LIMIT = calls

    return limit


@pytest.fixture
def local_runs(
    server: Server, scripted: Callable[..., PolicyVersion], conversation: Any
) -> Callable[..., list[Run]]:
    """Ask one question of each of these models, which the server says it has."""

    def ask_each(
        *models: str, at: Server = server, place: Conversation = conversation
    ) -> list[Run]:
        runs = []
        for model in models:
            choice = ModelChoice(provider="openai", base_url=at.base_url, model=model)
            version = scripted([], model=choice)
            message = uuid.uuid4()
            runs.append(ask(place, "2 + 2?", policy_version=version, client_message_id=message))
        return runs

    return ask_each


def test_runs_wait_for_each_other_at_one_provider(
    server: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
) -> None:
    limited(1)
    runs = local_runs("m", "m", "m")

    with working(*runs) as work:
        wait_for(lambda: bool(server.under_way))
        server.may_answer.set()
        work.wait()

    assert server.seen == [["m"]] * 3
    for run in runs:
        run.refresh_from_db()
        assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "4")


def test_runs_of_two_local_models_never_ask_both_at_once(
    server: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
) -> None:
    limited(8)
    runs = local_runs("a", "a", "b", "b")

    with working(*runs) as work:
        wait_for(lambda: bool(server.under_way))
        server.may_answer.set()
        work.wait()

    assert len(server.seen) == 4
    assert all(len(set(models)) == 1 for models in server.seen)


def test_a_chats_call_goes_before_that_of_a_trial_which_waits_already(
    redis: Redis,
    server: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
    ada: User,
) -> None:
    limited(1)
    first, chat = local_runs("first", "chat")
    place = Conversation.objects.create(owner=ada, kind="trial")
    (trial,) = local_runs("trial", place=place)

    with working(first):
        wait_for(lambda: bool(server.under_way))
        with working(trial) as tries:
            wait_for(lambda: waiting(redis) == 1)
            with working(chat) as chats:
                wait_for(lambda: waiting(redis) == 2)
                server.may_answer.set()
                chats.wait()
            tries.wait()

    assert server.seen == [["first"], ["chat"], ["trial"]]


def test_a_run_that_waits_for_its_slot_is_stopped_and_calls_nobody(
    redis: Redis,
    server: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
) -> None:
    limited(1)
    first, second = local_runs("m", "m")

    with working(first):
        wait_for(lambda: bool(server.under_way))
        with working(second) as waits:
            wait_for(lambda: waiting(redis) == 1)
            request_stop(second)
            waits.wait()

    second.refresh_from_db()
    assert second.status == RunStatus.STOPPED
    assert second.model_calls.count() == 0
    assert waiting(redis) == 0


def test_who_watches_a_run_that_waits_for_its_slot_is_told(
    redis: Redis,
    server: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
) -> None:
    limited(1)
    first, second = local_runs("m", "m")

    with working(first) as works:
        wait_for(lambda: bool(server.under_way))
        with working(second) as waits:
            wait_for(lambda: {"type": "run.waiting", "ahead": 0} in told(redis, second))
            server.may_answer.set()
            waits.wait()
        works.wait()

    here().publisher.flush(10)
    kinds = [event["type"] for event in told(redis, second)]
    (at,) = (n for n, event in enumerate(told(redis, second)) if event.get("ahead", 0) is None)
    assert kinds.count("run.waiting") == 2
    assert kinds.index("run.waiting") < at < kinds.index("answer.delta")


def test_a_server_that_limits_its_calls_is_left_alone_and_others_are_not(
    redis: Redis,
    server: Server,
    other: Server,
    limited: Callable[[int], None],
    local_runs: Callable[..., list[Run]],
    working: Any,
) -> None:
    limited(1)
    server.limited = 1
    server.may_answer.set()
    (first,), (second,) = local_runs("m"), local_runs("m", at=other)

    with working(first) as works:
        wait_for(lambda: any(redis.scan_iter(f"slots:{{{LOCAL}}}:paused:*")))
        held = redis.zcard(f"slots:{{{LOCAL}}}:held")
        with working(second) as passes:
            passes.wait()
        works.wait()

    assert held == 0
    for run in (first, second):
        run.refresh_from_db()
        assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "4")
    assert (len(server.seen), len(other.seen)) == (2, 1)


def test_no_key_is_in_what_is_kept_of_a_waiting_run(redis: Redis, settings: Settings) -> None:
    key = "sk-nobody-may-see-this"
    settings.MODEL_ENVIRONMENT = {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "TURNSTONE_MODEL": "m",
    }
    provider = here().providers.get(ModelChoice())
    assert isinstance(provider, Managed)

    with provider.lease(Control()):
        kept = [(name, redis.type(name)) for name in redis.scan_iter("slots:*")]
        values = [redis.get(name) for name, kind in kept if kind == b"string"]

    assert kept
    assert key not in f"{kept} {values} {vars(provider)}"
