"""ART's ReasoningEngine, ProviderManager and standard prompt: scenarios told in prose, played."""

import itertools
import re
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from typing import Any

from agents.compat.standard_prompt import check_prompt
from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import (
    AgentError,
    ConfigurationError,
    LocalModelBusy,
    LocalModelConflict,
    ProviderNotMade,
    SlotTaken,
    UnknownProvider,
)
from agents.model.model import Model
from agents.model.pool import ProviderManager, Wanted
from agents.model.slots import InProcessSlots
from agents.providers.base import Provider
from agents.providers.scripted import ScriptedProvider

Case = dict[str, Any]

NAMES = ("openai", "gem", "ollama", "lms")
LOCAL = ("ollama", "lms")
ERRORS: dict[type[AgentError], str] = {
    UnknownProvider: "UnknownProviderError:UNKNOWN_PROVIDER",
    ProviderNotMade: "AdapterInstantiationError:ADAPTER_INSTANTIATION_ERROR",
    LocalModelBusy: "LocalInstanceBusyError:LOCAL_INSTANCE_BUSY",
    LocalModelConflict: "LocalProviderConflictError:LOCAL_PROVIDER_CONFLICT",
}


class _Adapter(ScriptedProvider):
    def __init__(self) -> None:
        super().__init__([{"say": "hello"}])
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class _Play:
    """A manager with two places for each provider, one local, and a clock that is set by hand."""

    def __init__(self, *, limit: int = 2, breaks: bool = False) -> None:
        self.now = 0.0
        self._breaks = breaks
        self.manager = ProviderManager(
            NAMES, self._make, InProcessSlots(), limit=limit, clock=lambda: self.now
        )

    def lease(self, provider: str, model: str = "a", **options: Any) -> Any:
        wanted = Wanted(provider=provider, model=model, options=options, is_local=provider in LOCAL)
        return self.manager.lease(wanted, Control(), wait=False)

    def get(self, provider: str, model: str = "a", **options: Any) -> Provider:
        """Take a provider and give it back."""
        with self.lease(provider, model, **options) as taken:
            found: Provider = taken
            return found

    def outcome(self, provider: str, model: str = "a", **options: Any) -> str:
        """Say what becomes of a wish: resolved, pending, or rejected with which error."""
        try:
            self.get(provider, model, **options)
        except tuple(ERRORS) as error:
            return f"rejected:{ERRORS[type(error)]}"
        except SlotTaken:
            return "pending"
        return "resolved"

    def _make(self, wanted: Wanted) -> Provider:
        if self._breaks:
            raise RuntimeError("The constructor raises.")
        return _Adapter()


def check_manager(case: Case) -> str | None:
    """Play the scenario that has these facts."""
    expected, scenario = case["expected"], str(case["input"])
    if isinstance(expected, list):
        found: Any = list(_Play().manager.names)
    elif "maxParallelApiInstancesPerProvider" in expected:
        manager = ProviderManager(NAMES, lambda _: _Adapter(), InProcessSlots())
        found = {
            "maxParallelApiInstancesPerProvider": manager.limit,
            "apiInstanceIdleTimeoutSeconds": manager.idle_seconds,
        }
    elif "same_instance" in expected:
        found = _twice(scenario)
    elif "other_provider" in expected:
        found = _local()
    elif "result" in expected:
        found = {"result": _result(scenario)}
    elif set(expected) & {"third", "third_before", "third_after_release"}:
        found = _third(scenario)
    else:
        raise AssertionError(f"No scenario of this adapter tells {sorted(expected)}.")
    if isinstance(expected, dict):
        found = {name: found.get(name) for name in expected}
    assert found == expected, f"{found} is not {expected}"
    return None


def _twice(scenario: str) -> dict[str, Any]:
    play = _Play()
    options: tuple[dict[str, Any], dict[str, Any]] = ({"x": 1, "y": 2}, {"x": 1, "y": 2})
    if re.search(r"key order|order of", scenario):
        options = ({"x": 1, "y": 2}, {"y": 2, "x": 1})
    elif re.search(r"different|other (?:options|config)", scenario):
        options = ({"x": 1}, {"x": 2})
    provider = "ollama" if "local" in scenario else "openai"
    first = play.get(provider, **options[0])
    if re.search(r"wait|idle", scenario):
        play.now += play.manager.idle_seconds
    second = play.get(provider, **options[1])
    assert isinstance(first, _Adapter)
    return {"same_instance": second is first, "first_shutdown": first.is_closed}


def _local() -> dict[str, Any]:
    play = _Play()
    with play.lease("ollama") as first:
        found: dict[str, Any] = {
            "other_provider": play.outcome("lms"),
            "same_config": play.outcome("ollama"),
            "same_provider_other_model": play.outcome("ollama", "b"),
        }
    found["after_release_other"] = play.outcome("lms")
    found["evicted_first_shutdown"] = first.is_closed
    return found


def _result(scenario: str) -> str:
    if "raises" in scenario or "throws" in scenario:
        return _Play(breaks=True).outcome("openai")
    asked = re.search(r"get\((\w+)", scenario)
    assert asked, "No scenario of this adapter is told so."
    return _Play().outcome(asked[1])


def _third(scenario: str) -> dict[str, Any]:
    most = re.search(r"max=(\d+)", scenario)
    play = _Play(limit=int(most[1]) if most else 2)
    models = iter("same" * 9 if "identical" in scenario else "abcdefgh")
    with ExitStack() as others:
        with play.lease("openai", next(models)):
            for model in itertools.islice(models, play.manager.limit - 1):
                others.enter_context(play.lease("openai", model))
            third = next(models)
            before = play.outcome("openai", third)
        after = play.outcome("openai", third)
    return {"third": before, "third_before": before, "third_after_release": after}


class _Counted(ScriptedProvider):
    released = 0

    @contextmanager
    def lease(self, control: Control) -> Any:
        try:
            yield self
        finally:
            self.released += 1


def check_engine(case: Case) -> str | None:
    """Ask through the engine, and count how often the provider is given back."""
    scenario = str(case["input"])
    fails = re.search(r"raise|error|throw", scenario) is not None
    entry = {"fail": "busy", "after": "half"} if fails else {"say": "a b c"}
    provider = _Counted([entry])
    asked = [Message(role=Role.USER, content="Q?")]
    reply = Model(provider, Control()).stream(asked, purpose=Purpose.THINK)
    propagates = False
    try:
        if re.search(r"early|break", scenario):
            next(reply)
            del reply
        else:
            list(reply)
    except AgentError:
        propagates = True
    found = {"release_calls": provider.released, "error_propagates": propagates}
    expected = case["expected"]
    assert set(expected) <= set(found), f"No scenario of this adapter tells {sorted(expected)}."
    found = {name: found[name] for name in expected}
    assert found == expected, f"{found} is not {expected}"
    return None


def check_standard_prompt(case: Case) -> str | None:
    """Check the prompt; what is wrong with it is said."""
    refusal = ""
    try:
        check_prompt(case["input"])
    except ConfigurationError as error:
        refusal = str(error)
    assert case["expected"]["valid"] is not bool(refusal), refusal or "It is taken."
    return None


AREAS: dict[str, Callable[[Case], str | None]] = {
    "ProviderManager": check_manager,
    "ProviderManager concurrency / lifecycle": check_manager,
    "ReasoningEngine": check_engine,
    "standard prompt validation": check_standard_prompt,
}
