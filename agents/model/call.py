"""One call to a model: a slot, the reply, the slot given back; and made again where that is safe.

This is the only place where a call is made again. A provider posts once and raises; what may pass
by itself, and of which no token has come, is asked once more, after a wait that a halt ends.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager

from agents.contracts import ModelCall, Purpose, Usage
from agents.control import Control
from agents.errors import (
    AgentError,
    ProviderBusy,
    ProviderEndless,
    ProviderError,
    ProviderGarbled,
    ProviderLimited,
    ProviderTruncated,
    ProviderUnreachable,
    ToolsRefused,
)
from agents.model.delays import delay_after, may_wait
from agents.model.repeats import REPEATS, Repeats
from agents.providers.base import (
    REPLY,
    TOOLS,
    CallDelta,
    Finish,
    IsShown,
    ModelRequest,
    NativeCall,
    ParameterRefused,
    Provider,
    Reply,
    Token,
    not_shown,
)

Said = Token | CallDelta | NativeCall
"""What a reply says."""

LIMITED_RETRIES = 8
"""How often a server that limits its calls is asked again; each time its whole quota has paused."""

HALF_WAY = (ProviderBusy, ProviderGarbled, ProviderTruncated)
"""What a reply breaks off by that may well be whole when it is asked for again."""
REST_SECONDS = 1.0
"""What the end of a reply gets to come, once there is enough of it."""
REST_SIZE = 200
"""The characters that a model may still say meanwhile; one that says more goes on and on."""

logger = logging.getLogger(__name__)


class Call:
    """Ask one provider one question. The reply is cut off as soon as `enough` says so.

    With `is_seconded` another provider stands by, so a server that limits its calls is not waited
    for.
    """

    def __init__(
        self,
        provider: Provider,
        control: Control,
        request: ModelRequest,
        *,
        enough: Callable[[], bool] = lambda: False,
        is_shown: IsShown = not_shown,
        is_seconded: bool = False,
    ) -> None:
        self.error: Exception | None = None
        """What the last attempt ended in, None when the reply is complete or was enough."""
        self._provider, self._control = provider, control
        self._enough, self._is_shown = enough, is_shown
        self._is_seconded = is_seconded
        self._purpose, self._body = request.purpose, provider.body(request)
        self._offers_tools = bool(request.tools)
        self._record: _Record
        self._used = 0.0
        self._left_out: frozenset[str] = frozenset()
        self._limits = self._faults = 0

    def attempt(self) -> Generator[Said, None, bool]:
        """Yield what the reply says, and return whether to make another attempt.

        Calls are yielded as data where tools were offered; elsewhere they are a text of JSON.

        The slot is given back exactly once, before that. A halt while the call still waits for its
        slot is raised: then no call was made that could be told of. Whatever else goes wrong is in
        `error`; a reply of which a token has come is never begun again. One that only repeats
        itself ends there, as a cut one.
        """
        repeats = defaultdict[str, Repeats](Repeats)
        with self._provider.lease(self._control) as provider, self._reply(provider) as items:
            for item in items:
                if not isinstance(item, Token):
                    yield from self._more(item)
                    continue
                self._record.add(item)
                yield item
                if self._enough():
                    self._record.add(Finish(stop_reason="enough", usage=self._rest(items)))
                    break
                if repeats[item.kind].has_begun(item.text):
                    self._record.add(Finish(stop_reason=REPEATS))
                    break
        try:
            return self._is_made_again()
        except AgentError as halt:
            self.error = halt
            return False

    @property
    def has_begun(self) -> bool:
        """Tell whether anything of the reply has come."""
        return self._record.has_begun

    def record(self) -> ModelCall:
        """Return the exact record of the last attempt."""
        return self._record.called(self.error)

    def _more(self, item: CallDelta | NativeCall | Finish) -> Iterator[Said]:
        """Record what is no text, and yield what of it is for who asked."""
        if isinstance(item, NativeCall):
            is_reply = item.name == REPLY and not self._offers_tools
            written = Token(text=item.arguments if is_reply else f"\n{item.written}\n")
            self._record.add(written)
            yield item if self._offers_tools else written
            return
        self._record.add(item)
        if self._offers_tools and isinstance(item, CallDelta):
            yield item

    def _rest(self, items: Reply) -> Usage:
        """Read on for a moment, so that usage comes and the connection can serve the next call."""
        usage, size = Usage(), 0
        try:
            with self._control.calling_at_most(REST_SECONDS):
                for item in items:
                    if isinstance(item, Finish):
                        usage = item.usage
                    elif not isinstance(item, NativeCall):
                        size += len(item.text)
                    if size > REST_SIZE:
                        break
        except AgentError as error:
            logger.debug("What followed what was enough was let go: %s", error)
        return usage

    @contextmanager
    def _reply(self, provider: Provider) -> Iterator[Reply]:
        """Give what the provider says, let go of its connection, and keep what went wrong."""
        self.error = None
        self._record = _Record(self._purpose, provider, self._body)
        try:
            reply = provider.stream(self._body, self._control, self._is_shown)
            with self._counted(), closing(reply):
                yield reply
        except Exception as failure:
            self.error = failure
            if isinstance(failure, HALF_WAY) and not isinstance(failure, ProviderEndless):
                is_half_way = self._record.has_begun or isinstance(failure, ProviderTruncated)
                failure.may_pass = is_half_way and provider.retries > 0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Let what lies within the block count to the time that one call may take."""
        began = time.monotonic()
        try:
            with self._control.calling(self._used):
                yield
        finally:
            self._used += time.monotonic() - began

    def _is_made_again(self) -> bool:
        """Prepare another attempt and wait until it is due; tell whether there is one."""
        error = self.error
        if error is None or self._record.has_begun:
            if self._left_out:
                self._provider.leave_out(self._left_out)
            return False
        match error:
            case ParameterRefused() if self._offers_tools and error.parameter == TOOLS:
                self._provider.leave_out(self._left_out | {TOOLS})
                self.error = ToolsRefused(str(error))
                return False
            case ParameterRefused():
                logger.info("The server of %s knows no %s", self._provider.model, error.parameter)
                self._body = error.instead
                self._left_out |= {error.parameter}
                return True
            case ProviderLimited() if self._provider.retries:
                return self._pauses(error)
            case ProviderUnreachable() | ProviderBusy():
                return self._waits(error)
        return False

    def _pauses(self, error: ProviderLimited) -> bool:
        """Pause the server's quota for all who call it; tell whether that is worth waiting for.

        The time of the call begins anew with the next attempt.
        """
        self._limits += 1
        self._used = 0.0
        delay = delay_after(error, self._limits)
        is_awaited = self._provider.pause(delay)
        if self._is_seconded:
            return False
        if self._limits > LIMITED_RETRIES or not may_wait(delay, self._control):
            return False
        logger.info("The model is asked again in %.1f s: %s", delay, error)
        if not is_awaited:
            self._control.tell_paused()
            self._control.wait(delay)
            self._control.tell_waiting(None)
        return True

    def _waits(self, error: ProviderError) -> bool:
        """Wait as long as a server asks for that failed, within the time of the call."""
        self._faults += 1
        delay = delay_after(error, self._faults)
        with self._counted():
            if self._faults > self._provider.retries or not may_wait(delay, self._control):
                return False
            logger.info("The model is asked again in %.1f s: %s", delay, error)
            self._control.wait(delay)
        return True


class _Record:
    """Gather what becomes the ModelCall of one attempt."""

    def __init__(self, purpose: Purpose, provider: Provider, request: str) -> None:
        self._request = request
        self._purpose = purpose
        self._provider = provider
        self._texts: dict[str, list[str]] = {"answer": [], "reasoning": []}
        self._finish = Finish(stop_reason="", usage=Usage())
        self._started_at = time.time()
        self._start = time.perf_counter()
        self._first: float | None = None

    def add(self, item: Token | CallDelta | Finish) -> None:
        if isinstance(item, Finish):
            self._finish = item
            return
        if self._first is None:
            self._first = time.perf_counter() - self._start
        if isinstance(item, Token):
            self._texts[item.kind].append(item.text)

    @property
    def has_begun(self) -> bool:
        """Tell whether anything of the reply has come."""
        return self._first is not None

    def called(self, error: Exception | None) -> ModelCall:
        return ModelCall(
            purpose=self._purpose,
            provider=self._provider.name,
            address=self._provider.base_url,
            model=self._provider.model,
            request=self._request,
            reply="".join(self._texts["answer"]),
            reasoning="".join(self._texts["reasoning"]),
            usage=self._finish.usage,
            stop_reason=self._finish.stop_reason,
            started_at=self._started_at,
            first_token_seconds=self._first,
            seconds=time.perf_counter() - self._start,
            error="" if error is None else str(error) or _kind(error),
        )


def _kind(error: Exception) -> str:
    return error.kind if isinstance(error, AgentError) else type(error).__name__
