"""A model as the components see it: ask, read the tokens, and leave an exact record of the call."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agents.contracts import Message, ModelCall, Usage
from agents.control import Control
from agents.events import ModelCalled
from agents.providers.base import Finish, ModelRequest, Provider, Token


@dataclass(frozen=True)
class Model:
    """A provider bound to one run's control and sampling settings."""

    provider: Provider
    control: Control
    temperature: float | None = None
    max_tokens: int | None = None

    def complete(
        self, messages: Sequence[Message], *, purpose: str, as_json: bool = False
    ) -> Generator[ModelCalled, None, str]:
        """Return the whole reply text; use as `reply = yield from model.complete(...)`."""
        parts: list[str] = []
        for item in self.stream(messages, purpose=purpose, as_json=as_json):
            if isinstance(item, ModelCalled):
                yield item
            elif item.kind == "answer":
                parts.append(item.text)
        return "".join(parts)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        as_json: bool = False,
        stop: Sequence[str] = (),
        enough: Callable[[], bool] = lambda: False,
    ) -> Iterator[Token | ModelCalled]:
        """Yield the reply's tokens, then the record of the call.

        The reply is cut off as soon as `enough` says so, asked after each token. The record is
        yielded for a failed or halted call as well, before its error is raised again.
        """
        request = ModelRequest(
            purpose=purpose,
            messages=messages,
            as_json=as_json,
            stop=stop,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )
        record = _Record(purpose, self.provider, self.provider.body(request))
        try:
            with _closing(self.provider.stream(record.request, self.control)) as items:
                for item in items:
                    record.take(item)
                    if isinstance(item, Token):
                        yield item
                        if enough():
                            record.take(Finish(stop_reason="enough"))
                            break
        except Exception as error:
            yield record.called(error)
            raise
        yield record.called()


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

    def take(self, item: Token | Finish) -> None:
        if isinstance(item, Finish):
            self._finish = item
            self.request = item.body or self.request
            return
        if self._first is None:
            self._first = time.perf_counter() - self._start
        self._texts[item.kind].append(item.text)

    def called(self, error: Exception | None = None) -> ModelCalled:
        return ModelCalled(
            call=ModelCall(
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
        )
