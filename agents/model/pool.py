"""Hand out providers: pooled by what they are, and no more at once than there are slots for."""

import itertools
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from agents.contracts import Value
from agents.control import Control
from agents.errors import (
    AgentError,
    LocalModelBusy,
    LocalModelConflict,
    ProviderNotMade,
    SlotTaken,
    UnknownProvider,
)
from agents.model.slots import Quota, Slots
from agents.providers.abilities import Abilities
from agents.providers.base import IsShown, ModelRequest, Provider, Reply, not_shown

LIMIT = 5
"""Calls at once to one provider, unless the manager is told otherwise."""
IDLE_SECONDS = 300.0
MAX_IDLE = 256
"""Idle providers that are kept of one kind."""
LOCAL = "local models"

logger = logging.getLogger(__name__)


class Wanted(Value):
    """Which provider, model and options a call is for; never a key.

    `is_local` says that the model runs on this machine, which has room for one at a time;
    `gives_way` that the call waits for all calls that do not, however late they come.
    """

    provider: str
    model: str = ""
    options: Mapping[str, Any] = {}
    is_local: bool = False
    gives_way: bool = False

    @cached_property
    def signature(self) -> str:
        """Return what tells this from another, whatever the order of the options."""
        return json.dumps([self.provider, self.model, self.options], sort_keys=True)


class ProviderManager:
    """Keep providers that are idle, and let calls queue for a slot.

    `limit` is for each provider's name but for those with one of their own in `limits`,
    `local_limit` for calls to the one local model; 0 is no limit. A local provider with a limit of
    its own is no part of that: somebody has said what it can take. The limits hold as far as
    `slots` reach. A provider that is idle for `idle_seconds` is closed; a local one only when
    another local model is wanted, for it takes long to load.
    """

    def __init__(
        self,
        names: Collection[str],
        make: Callable[[Wanted], Provider],
        slots: Slots,
        *,
        limit: int = LIMIT,
        limits: Mapping[str, int] = MappingProxyType({}),
        local_limit: int = 1,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.names = tuple(names)
        self.limit, self.local_limit, self.idle_seconds = limit, local_limit, idle_seconds
        self._limits = limits
        self._make = make
        self._slots = slots
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: dict[str, _Kept] = {}

    @contextmanager
    def lease(self, wanted: Wanted, control: Control, *, wait: bool = True) -> Iterator[Provider]:
        """Give a provider that nobody else uses, once there is a slot for it.

        Raises UnknownProvider, ProviderNotMade, with `wait` false SlotTaken (for a local model
        LocalModelBusy or LocalModelConflict), and what `control.check` raises while waiting.
        """
        if wanted.provider not in self.names:
            there_are = ", ".join(self.names)
            raise UnknownProvider(f"No provider {wanted.provider!r}. There are: {there_are}.")
        with self._slot(wanted, control, wait):
            provider = self._take(wanted)
            try:
                yield provider
            finally:
                self.put(wanted, provider)

    def put(self, wanted: Wanted, provider: Provider) -> None:
        """Keep a provider that nobody uses for the next call that wants it."""
        with self._lock:
            kept = self._idle.setdefault(wanted.signature, _Kept(wanted))
            kept.idle.append((self._clock(), provider))
            leaving = kept.leave(len(kept.idle) - MAX_IDLE)
        _close(leaving)

    def pause(self, wanted: Wanted, seconds: float) -> bool:
        """Let no call through to the same server for so long; tell whether calls wait for that."""
        quota = self._quota(wanted)
        if quota.limit:
            self._slots.pause(quota, seconds)
        return bool(quota.limit)

    def close(self) -> None:
        """Close all providers that are idle."""
        with self._lock:
            leaving = [provider for kept in self._idle.values() for _, provider in kept.idle]
            self._idle.clear()
        _close(leaving)

    @contextmanager
    def _slot(self, wanted: Wanted, control: Control, wait: bool) -> Iterator[None]:
        quota = self._quota(wanted)
        if not quota.limit:
            yield
            return
        try:
            ticket = self._slots.acquire(quota, control, wait=wait)
        except SlotTaken as error:
            raise _of_local(error, wanted) from None
        try:
            yield
        finally:
            self._slots.release(quota, ticket)

    def _quota(self, wanted: Wanted) -> Quota:
        server = str(wanted.options.get("base_url", ""))
        own = self._limits.get(wanted.provider)
        if wanted.is_local and own is None:
            return Quota(LOCAL, self.local_limit, wanted.signature, server, wanted.gives_way)
        limit = self.limit if own is None else own
        return Quota(wanted.provider, limit, server=server, gives_way=wanted.gives_way)

    def _take(self, wanted: Wanted) -> Provider:
        leaving: list[Provider] = []
        with self._lock:
            for kept in self._idle.values():
                leaving += kept.leave(self._superfluous(kept, wanted))
            mine = self._idle.get(wanted.signature)
            found = mine.idle.pop()[1] if mine is not None and mine.idle else None
        _close(leaving)
        return self._made(wanted) if found is None else found

    def _superfluous(self, kept: "_Kept", wanted: Wanted) -> int:
        """Return how many of the oldest idle providers of one kind make room now."""
        if kept.wanted.is_local:
            is_in_the_way = wanted.is_local and kept.wanted.signature != wanted.signature
            return len(kept.idle) if is_in_the_way else 0
        too_old = self._clock() - self.idle_seconds
        return sum(1 for _ in itertools.takewhile(lambda idle: idle[0] <= too_old, kept.idle))

    def _made(self, wanted: Wanted) -> Provider:
        try:
            return self._make(wanted)
        except AgentError:
            raise
        except Exception as error:
            logger.exception("The provider %r could not be made", wanted.provider)
            raise ProviderNotMade(
                f"The provider {wanted.provider!r} could not be made ({type(error).__name__}); the "
                "details are in the log."
            ) from error


@dataclass
class _Kept:
    """The idle providers of one kind with the time since when they are, oldest first."""

    wanted: Wanted
    idle: deque[tuple[float, Provider]] = field(default_factory=deque)

    def leave(self, count: int) -> list[Provider]:
        """Return the oldest ones, which are not kept any more."""
        return [self.idle.popleft()[1] for _ in range(count)]


class Managed(Provider):
    """One run's way to a model: a provider like any other, whose every call waits for a slot."""

    def __init__(self, manager: ProviderManager, wanted: Wanted, provider: Provider) -> None:
        self.name = provider.name
        self.model = provider.model
        self.base_url = provider.base_url
        self.retries = provider.retries
        self._manager = manager
        self._wanted = wanted
        self._provider = provider
        manager.put(wanted, provider)

    def lease(self, control: Control) -> AbstractContextManager[Provider]:
        """Give a provider for one call, once there is a slot for it."""
        return self._manager.lease(self._wanted, control)

    def pause(self, seconds: float) -> bool:
        """Let nobody ask the model's server for so long; tell whether calls wait for that."""
        return self._manager.pause(self._wanted, seconds)

    def body(self, request: ModelRequest) -> str:
        """Return the body to post."""
        return self._provider.body(request)

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Wait for a slot, and yield the reply to `body`."""
        with self.lease(control) as provider:
            yield from provider.stream(body, control, is_shown)

    @property
    def thinks_first(self) -> bool | None:
        """Tell whether the model's replies begin within a thought."""
        return self._provider.thinks_first

    def learn_thinking(self, is_first: bool) -> None:
        """Know it from now on."""
        self._provider.learn_thinking(is_first)

    @property
    def context_length(self) -> int | None:
        """Return how many tokens the model takes."""
        return self._provider.context_length

    @property
    def abilities(self) -> Abilities:
        """Return what is known by now of what the model can."""
        return self._provider.abilities

    def learn(self, control: Control) -> None:
        """Ask the server what the model can; that takes no slot."""
        self._provider.learn(control)

    def leave_out(self, parameters: Collection[str]) -> None:
        """Ask without these parameters from now on."""
        self._provider.leave_out(parameters)

    def refuses(self, parameter: str) -> bool:
        """Tell whether the server has turned out not to take this parameter."""
        return self._provider.refuses(parameter)


def _of_local(error: SlotTaken, wanted: Wanted) -> SlotTaken:
    if not wanted.is_local:
        return error
    if error.model == wanted.signature:
        return LocalModelBusy(f"The local model {wanted.model!r} is busy.", model=error.model)
    return LocalModelConflict(
        f"Another local model is at work; {wanted.model!r} has to wait.", model=error.model
    )


def _close(leaving: Iterable[Provider]) -> None:
    """Close each; a provider that fails to is let go all the same."""
    for provider in leaving:
        try:
            provider.close()
        except Exception:
            logger.exception("The provider %r could not be closed", provider.name)
