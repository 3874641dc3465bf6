"""Servers of one dialect are asked under their names: each with its key, slots and price."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings
from redis import Redis

from agents.providers.choice import ModelChoice
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NamedProviders
from chat.models import Conversation, PolicyVersion, Run, RunStatus
from chat.runs.ask import ask
from chat.runs.models_offered import ModelOffered
from chat.transcripts.costs import Costs
from tests.integration.here import here
from tests.integration.runs.worker.slots.lines import wait_for
from tests.integration.runs.worker.slots.model_server import Server, serving

pytestmark = pytest.mark.services

PRICES = {"east": {"input": 1, "output": 2}, "west": {"input": 10, "output": 20}}


@pytest.fixture
def east() -> Iterator[Server]:
    yield from serving()


@pytest.fixture
def west() -> Iterator[Server]:
    yield from serving()


@pytest.fixture
def named(settings: Settings, east: Server, west: Server) -> Callable[..., None]:
    """Name both servers: `named(east={"second": "west"})`."""

    def name(**fields: dict[str, Any]) -> None:
        settings.PROVIDERS = NamedProviders(
            NamedProvider.model_validate(
                {
                    "name": name,
                    "dialect": "openai",
                    "address": server.base_url,
                    "key": f"{name.upper()}_API_KEY",
                    "calls": 1,
                    "models": ["m", f"{name}-big"],
                    "prices": {"*": PRICES[name]},
                }
                | fields.get(name, {})
            )
            for name, server in (("east", east), ("west", west))
        )
        settings.MODEL_ENVIRONMENT = {"EAST_API_KEY": "sk-east", "WEST_API_KEY": "sk-west"}

    return name


@pytest.fixture
def asked_of(
    scripted: Callable[..., PolicyVersion], conversation: Conversation
) -> Callable[..., Run]:
    """Ask one question of a provider's model: `asked_of("east")`."""

    def ask_it(
        provider: str = "", model: str = "m", by_policy: str = "auto", **limits: float
    ) -> Run:
        version = scripted([], model=ModelChoice(provider=by_policy), limits=limits)
        chosen = ModelOffered(provider, model) if provider else None
        message = uuid.uuid4()
        return ask(
            conversation, "2 + 2?", policy_version=version, client_message_id=message, model=chosen
        )

    return ask_it


def answered_by(run: Run) -> tuple[str, str, str]:
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED, run.message
    return run.provider, run.model, run.instead_of


def test_each_gets_its_own_key_and_the_run_says_who_answered(
    named: Callable[..., None], asked_of: Callable[..., Run], east: Server, west: Server
) -> None:
    named()
    for server in (east, west):
        server.may_answer.set()
    first, second = asked_of("east"), asked_of("west", "west-big")

    for run in (first, second):
        here().work(run.pk)

    assert answered_by(first) == ("east", "m", "")
    assert answered_by(second) == ("west", "west-big", "")
    assert (east.keys, west.keys) == (["Bearer sk-east"], ["Bearer sk-west"])


def test_each_has_slots_of_its_own(
    named: Callable[..., None],
    asked_of: Callable[..., Run],
    east: Server,
    west: Server,
    redis: Redis,
    working: Any,
) -> None:
    named()
    runs = [asked_of(name) for name in ("east", "east", "west")]

    with working(*runs) as work:
        wait_for(lambda: bool(east.under_way) and bool(west.under_way))
        wait_for(lambda: int(redis.zcard("slots:{east}:line")) == 1)
        east.may_answer.set()
        west.may_answer.set()
        work.wait()

    assert (east.seen, west.seen) == ([["m"], ["m"]], [["m"]])


def test_a_run_is_priced_by_who_answered(
    named: Callable[..., None], asked_of: Callable[..., Run], east: Server, west: Server
) -> None:
    named(east={"second": "west"})
    west.may_answer.set()
    east.fails_with = 500
    run = asked_of("east", cost=1)

    here().work(run.pk)

    assert answered_by(run) == ("west", "m", "east")
    assert Costs(run).of_run() == pytest.approx((100 * 10 + 10 * 20) / 1_000_000)


def test_a_run_stays_priced_by_its_server_when_a_vendors_key_comes_later(
    asked_of: Callable[..., Run], settings: Settings, east: Server
) -> None:
    settings.MODEL_ENVIRONMENT = {
        "OPENAI_BASE_URL": east.base_url,
        "TURNSTONE_MODEL": "gpt-4o-mini",
    }
    east.may_answer.set()
    run = asked_of()
    here().work(run.pk)

    settings.MODEL_ENVIRONMENT = {"OPENAI_API_KEY": "sk-x"}

    assert answered_by(run) == ("openai", "gpt-4o-mini", "")
    assert Costs(run).of_run() is None


def test_a_policy_with_a_model_of_its_own_keeps_it(
    named: Callable[..., None], asked_of: Callable[..., Run], west: Server
) -> None:
    named()
    west.may_answer.set()
    run = asked_of("east", by_policy="west")

    here().work(run.pk)

    assert answered_by(run) == ("west", "m", "")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"key": "NOBODY_SET_THIS"}, "NOBODY_SET_THIS, which is not set"),
        ({}, "no provider 'north'"),
    ],
)
def test_what_cannot_be_asked_fails_the_run_in_words(
    named: Callable[..., None], asked_of: Callable[..., Run], fields: dict[str, str], says: str
) -> None:
    named(east=fields)
    run = asked_of("east" if fields else "north")

    here().work(run.pk)

    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert says in run.message


@pytest.mark.parametrize("fault", [500, 429, "refuses connections", "hangs"])
def test_the_second_answers_where_the_first_does_not(
    named: Callable[..., None],
    asked_of: Callable[..., Run],
    east: Server,
    west: Server,
    fault: int | str,
) -> None:
    named(east={"second": "west"})
    west.may_answer.set()
    match fault:
        case int():
            east.fails_with = fault
        case "refuses connections":
            east.server_close()
    run = asked_of("east", idle_seconds=0.5)

    here().work(run.pk)

    assert answered_by(run) == ("west", "m", "east")
    failed, answered = run.model_calls.order_by("index")
    assert (failed.provider, bool(failed.error)) == ("east", True)
    assert (answered.provider, answered.error) == ("west", "")
    assert (failed.address, answered.address) == (east.base_url, west.base_url)


def test_the_second_is_not_asked_once_a_token_has_come(
    named: Callable[..., None], asked_of: Callable[..., Run], east: Server, west: Server
) -> None:
    named(east={"second": "west"})
    east.breaks_off = True
    west.may_answer.set()
    east.may_answer.set()
    run = asked_of("east")

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.provider, run.instead_of) == (RunStatus.FAILED, "east", "")
    assert west.seen == []


def test_a_fault_of_the_request_is_not_passed_on(
    named: Callable[..., None], asked_of: Callable[..., Run], east: Server, west: Server
) -> None:
    named(east={"second": "west"})
    east.fails_with = 401
    run = asked_of("east")

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, west.seen) == (RunStatus.FAILED, [])
    assert "Check EAST_API_KEY" in run.message
    assert "sk-east" not in run.message
