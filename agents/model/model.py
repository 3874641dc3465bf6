"""A model as the components see it: ask, read the tokens, and leave an exact record of the call."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from agents.contracts import Message, Purpose
from agents.control import Control
from agents.errors import OutOfBudget
from agents.events import ModelCalled
from agents.model.budget import Budget, Purse
from agents.model.call import Failed, Metadata, ReasoningEngine
from agents.providers.base import ModelRequest, Provider, Token

RESERVED = Purpose.SUMMARIZE
"""The purpose of the one call that is made when the budget is used up: for a partial answer."""


@dataclass(frozen=True)
class Model:
    """A provider bound to one run's control, sampling settings and budget."""

    provider: Provider
    control: Control
    temperature: float | None = None
    max_tokens: int | None = None
    budget: Purse = field(default_factory=Budget)

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
        yielded for a failed or halted call as well, before its error is raised again. Raises
        OutOfBudget instead of asking when the budget is used up, but for the call in reserve.
        """
        if purpose != RESERVED and self.budget.is_used_up:
            raise OutOfBudget(self.budget.used)
        request = ModelRequest(
            purpose=purpose,
            messages=messages,
            as_json=as_json,
            stop=stop,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )
        engine = ReasoningEngine(self.provider, self.control)
        with closing(engine.stream(request, enough=enough)) as events:
            for event in events:
                if isinstance(event, Token):
                    yield event
                elif isinstance(event, Metadata):
                    self.budget.count(event.call)
                    yield ModelCalled(call=event.call)
                elif isinstance(event, Failed):
                    raise event.error
