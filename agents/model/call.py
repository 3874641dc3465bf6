"""The one way in which a model is asked: a slot, the call, its events, and the slot given back.

What a provider says becomes a stream of events: TOKEN, METADATA, ERROR, END. The slot is given back
exactly once, before METADATA, however the call ends: done, failed, halted, or no longer read.
"""

import itertools
import logging
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

from agents.contracts import ModelCall, Usage, Value
from agents.control import Control
from agents.errors import ProviderLimited
from agents.providers.base import Finish, ModelRequest, Provider, Token
from agents.providers.wire.delays import delay_after, may_wait

LIMITED_RETRIES = 8
"""How often a server that limits its calls is asked again; each time its whole lane has paused."""

logger = logging.getLogger(__name__)


@runtime_checkable
class Leasable(Protocol):
    """A provider that must be waited for; what `lease` gives may be called once, now."""

    def lease(self, control: Control) -> AbstractContextManager[Provider]:
        """Wait, and give the provider for one call."""
        ...


@runtime_checkable
class Pausable(Protocol):
    """A provider whose calls wait for each other; all of them can be made to wait."""

    def pause(self, seconds: float) -> bool:
        """Let nobody ask the model's server for so long; tell whether calls wait for that."""
        ...


class Metadata(Value):
    """The exact record of the call: tokens, times, why it stopped."""

    type: ClassVar[Literal["METADATA"]] = "METADATA"
    call: ModelCall


@dataclass(frozen=True)
class Failed:
    """The call failed or was halted; its METADATA comes before this."""

    type: ClassVar[Literal["ERROR"]] = "ERROR"
    error: Exception


class End(Value):
    """Nothing more comes, whether the call went well or not."""

    type: ClassVar[Literal["END"]] = "END"


StreamEvent = Token | Metadata | Failed | End
"""A Token says by its kind whether it is of the answer or of the reasoning before it."""


@dataclass(frozen=True)
class ReasoningEngine:
    """Ask one provider, and tell what comes of it."""

    provider: Provider
    control: Control

    def stream(
        self, request: ModelRequest, *, enough: Callable[[], bool] = lambda: False
    ) -> Generator[StreamEvent, None, None]:
        """Yield the tokens, then METADATA, ERROR if it failed, and END.

        The reply is cut off as soon as `enough` says so, asked after each token. A halt while the
        call still waits for its slot is raised: then no call was made that could be told of. Where
        a server limits its calls the slot is given back, its lane paused, and the call made anew.
        """
        for failures in itertools.count(1):
            record, error = yield from self._call(request, enough)
            if record.has_begun or not self._waits(error, failures):
                break
        yield Metadata(call=record.called(error))
        if error is not None:
            yield Failed(error)
        yield End()

    def _call(
        self, request: ModelRequest, enough: Callable[[], bool]
    ) -> Generator[StreamEvent, None, tuple["_Record", Exception | None]]:
        error: Exception | None = None
        with _leased(self.provider, self.control) as provider:
            record = _Record(request.purpose, provider, provider.body(request))
            try:
                with (
                    self.control.calling(),
                    _closing(provider.stream(record.request, self.control)) as items,
                ):
                    for item in items:
                        record.add(item)
                        if isinstance(item, Token):
                            yield item
                            if enough():
                                record.add(Finish(stop_reason="enough"))
                                break
            except Exception as failure:
                error = failure
        return record, error

    def _waits(self, error: Exception | None, failures: int) -> bool:
        """Pause the lane of a server that limits its calls; tell whether to ask it again then."""
        if not isinstance(error, ProviderLimited) or not isinstance(self.provider, Pausable):
            return False
        delay = delay_after(error, failures)
        is_awaited = self.provider.pause(delay)
        if failures > LIMITED_RETRIES or not may_wait(delay, self.control):
            return False
        logger.info("The model is asked again in %.1f s: %s", delay, error)
        if not is_awaited:
            self.control.tell_paused()
            self.control.wait(delay)
            self.control.tell_waiting(None)
        return True


def _leased(provider: Provider, control: Control) -> AbstractContextManager[Provider]:
    return provider.lease(control) if isinstance(provider, Leasable) else nullcontext(provider)


@contextmanager
def _closing(items: Iterator[Token | Finish]) -> Iterator[Iterator[Token | Finish]]:
    """Let go of the connection behind `items`, also when they are not read to their end."""
    try:
        yield items
    finally:
        if isinstance(items, Generator):
            items.close()


class _Record:
    """Gather what becomes the ModelCall of one call."""

    def __init__(self, purpose: str, provider: Provider, request: str) -> None:
        self.request = request
        self._purpose = purpose
        self._provider = provider
        self._texts: dict[str, list[str]] = {"answer": [], "reasoning": []}
        self._finish = Finish(stop_reason="", usage=Usage())
        self._started_at = time.time()
        self._start = time.perf_counter()
        self._first: float | None = None

    def add(self, item: Token | Finish) -> None:
        if isinstance(item, Finish):
            self._finish = item
            self.request = item.body or self.request
            return
        if self._first is None:
            self._first = time.perf_counter() - self._start
        self._texts[item.kind].append(item.text)

    @property
    def has_begun(self) -> bool:
        """Tell whether anything of the reply has come."""
        return self._first is not None

    def called(self, error: Exception | None) -> ModelCall:
        return ModelCall(
            purpose=self._purpose,
            provider=self._provider.name,
            model=self._provider.model,
            request=self.request,
            reply="".join(self._texts["answer"]),
            reasoning="".join(self._texts["reasoning"]),
            usage=self._finish.usage,
            stop_reason=self._finish.stop_reason,
            started_at=self._started_at,
            first_token_seconds=self._first,
            seconds=time.perf_counter() - self._start,
            error="" if error is None else (str(error) or type(error).__name__),
        )
