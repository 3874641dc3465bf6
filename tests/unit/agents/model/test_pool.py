"""The manager reuses what is idle, keeps the limits, and lets go of what is not needed."""

import threading
from contextlib import ExitStack

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import (
    ConfigurationError,
    LocalModelBusy,
    LocalModelConflict,
    ProviderNotMade,
    SlotTaken,
    UnknownProvider,
)
from agents.model.model import Model
from agents.model.pool import IDLE_SECONDS, LIMIT, Managed, ProviderManager, Wanted
from agents.model.slots import InProcessSlots
from agents.providers.base import Finish, IsShown, ModelRequest, Provider, Reply, Token, not_shown
from agents.providers.scripted import ScriptedProvider

NAMES = ("openai", "gemini", "ollama", "lms")


class Closing(ScriptedProvider):
    """A scripted provider that tells whether it was closed."""

    def __init__(self) -> None:
        super().__init__([{"say": "hello"}] * 9)
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def make(wanted: Wanted) -> Provider:
    if wanted.model == "crash":
        raise RuntimeError("secret details")
    if wanted.model == "unset":
        raise ConfigurationError("No key is set.")
    return Closing()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def manager(clock: Clock) -> ProviderManager:
    return ProviderManager(NAMES, make, InProcessSlots(), limit=2, clock=clock)


def wanted(model: str = "a", provider: str = "openai", **options: object) -> Wanted:
    return Wanted(
        provider=provider, model=model, options=options, is_local=provider in ("ollama", "lms")
    )


def used(manager: ProviderManager, what: Wanted) -> Provider:
    with manager.lease(what, Control(), wait=False) as provider:
        return provider


def test_an_idle_provider_is_used_again_whatever_the_order_of_its_options(
    manager: ProviderManager,
) -> None:
    first = used(manager, wanted(x=1, y={"b": 1, "a": 2}))

    assert used(manager, wanted(y={"a": 2, "b": 1}, x=1)) is first
    assert used(manager, wanted(x=2)) is not first
    assert used(manager, wanted("b", x=1)) is not first


def test_a_provider_in_use_is_nobody_elses(manager: ProviderManager) -> None:
    with (
        manager.lease(wanted(), Control()) as first,
        manager.lease(wanted(), Control()) as second,
    ):
        assert first is not second


def test_a_third_call_waits_also_when_it_is_for_the_same_model(manager: ProviderManager) -> None:
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(manager.lease(wanted(), Control()))
        with pytest.raises(SlotTaken):
            used(manager, wanted())
        with pytest.raises(SlotTaken):
            used(manager, wanted("b"))
        assert used(manager, wanted(provider="gemini"))
    assert used(manager, wanted("b"))


def test_a_waiting_call_goes_on_when_a_slot_is_given_back(manager: ProviderManager) -> None:
    done = threading.Event()

    def call() -> None:
        with manager.lease(wanted("c"), Control()):
            done.set()

    with manager.lease(wanted("a"), Control()), ExitStack() as second:
        second.enter_context(manager.lease(wanted("b"), Control()))
        threading.Thread(target=call, daemon=True).start()
        assert not done.is_set()
        second.close()
        assert done.wait(10)


def test_an_unknown_provider_is_refused_with_those_there_are(manager: ProviderManager) -> None:
    with pytest.raises(UnknownProvider, match="openai, gemini, ollama, lms"):
        used(manager, wanted(provider="nope"))


def test_a_provider_that_cannot_be_made_gives_its_slot_back_and_no_secret_away(
    manager: ProviderManager,
) -> None:
    for _ in range(3):
        with pytest.raises(ProviderNotMade, match="RuntimeError") as failed:
            used(manager, wanted("crash"))
    assert "secret" not in str(failed.value)


def test_what_the_maker_says_is_wrong_is_said(manager: ProviderManager) -> None:
    with pytest.raises(ConfigurationError, match="No key is set"):
        used(manager, wanted("unset"))


def test_a_provider_idle_for_too_long_is_closed_and_made_anew(
    manager: ProviderManager, clock: Clock
) -> None:
    first = used(manager, wanted())
    clock.now += IDLE_SECONDS

    second = used(manager, wanted())

    assert second is not first
    assert isinstance(first, Closing)
    assert first.is_closed


def test_one_local_model_works_at_a_time(manager: ProviderManager) -> None:
    local = wanted("a", "ollama")
    with manager.lease(local, Control()):
        with pytest.raises(LocalModelBusy):
            used(manager, local)
        with pytest.raises(LocalModelConflict):
            used(manager, wanted("b", "ollama"))
        with pytest.raises(LocalModelConflict):
            used(manager, wanted("a", "lms"))
        assert used(manager, wanted())


def test_an_idle_local_model_makes_room_only_for_another_local_one(
    manager: ProviderManager, clock: Clock
) -> None:
    first = used(manager, wanted("a", "ollama"))
    clock.now += 10 * IDLE_SECONDS
    used(manager, wanted())
    assert isinstance(first, Closing)
    assert not first.is_closed

    used(manager, wanted("a", "lms"))

    assert first.is_closed


def test_closing_the_manager_closes_what_is_idle(manager: ProviderManager) -> None:
    provider = used(manager, wanted())

    manager.close()

    assert isinstance(provider, Closing)
    assert provider.is_closed


def test_the_defaults_are_five_calls_at_once_and_five_minutes() -> None:
    manager = ProviderManager(NAMES, make, InProcessSlots())

    assert (manager.limit, manager.idle_seconds) == (LIMIT, IDLE_SECONDS) == (5, 300.0)


def test_no_limit_is_no_wait() -> None:
    manager = ProviderManager(NAMES, make, InProcessSlots(), limit=0)

    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(manager.lease(wanted(), Control(), wait=False))


class Broken(Closing):
    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        yield Token(text="half")
        raise RuntimeError("boom")

    def close(self) -> None:
        raise RuntimeError("boom")


def test_a_run_asks_through_the_manager_and_leaves_no_slot_behind(
    manager: ProviderManager,
) -> None:
    model = Model(Managed(manager, wanted(), Broken()), Control())
    asked = [Message(role=Role.USER, content="Q?")]

    for _ in range(5):
        with pytest.raises(RuntimeError, match="boom"):
            list(model.stream(asked, purpose=Purpose.THINK))

    manager.close()
    assert used(manager, wanted())


def test_a_managed_provider_may_be_asked_directly(manager: ProviderManager) -> None:
    managed = Managed(manager, wanted(), Closing())
    body = managed.body(ModelRequest(purpose=Purpose.THINK, messages=[]))

    *tokens, finish = managed.stream(body, Control())

    assert (managed.name, managed.model) == ("scripted", "scripted")
    assert [token.text for token in tokens if isinstance(token, Token)] == ["hello"]
    assert isinstance(finish, Finish)
