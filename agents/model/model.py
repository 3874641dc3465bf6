"""A model as the components see it: ask, read the tokens, and leave an exact record of the call."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.contracts import Message, ModelCall, Purpose
from agents.control import Control
from agents.errors import OutOfBudget, ProviderError
from agents.events import Event, ModelCalled
from agents.model.budget import Budget, Purse
from agents.model.call import Call, Said
from agents.model.instructions import instructed
from agents.providers.base import (
    REPLY_SHARE,
    IsShown,
    ModelRequest,
    Provider,
    Token,
    ToolSchema,
    not_shown,
)

RESERVED = Purpose.SUMMARIZE
"""The purpose of the one call that is made when the budget is used up: for a partial answer."""


ANSWERS = frozenset(
    {
        Purpose.THINK,
        Purpose.STEP,
        Purpose.REPAIR,
        Purpose.FINAL,
        Purpose.WORK,
        Purpose.SOLVE,
        Purpose.SYNTHESIZE,
        Purpose.SUMMARIZE,
    }
)
"""The purposes of calls whose reply may be what the person reads; all others only think."""


class Reader(Protocol):
    """Takes a reply in while it comes, and says what of it is to be shown by then."""

    @property
    def done(self) -> bool:
        """Tell whether nothing that follows can matter, so that the reply may be cut off."""
        ...

    def think_aloud(self, text: str, /) -> Iterable[Event]:
        """Take what a reasoning model says to itself."""
        ...

    def feed(self, chunk: str, /) -> Iterable[Event]:
        """Take more of the reply."""
        ...

    def finish(self, *, is_cut: bool) -> Iterable[Event]:
        """Take the reply as complete, or as cut off by its limit of length."""
        ...


@dataclass(frozen=True)
class Model:
    """A provider bound to one run's control, sampling settings and budget.

    A reply may have `thought_tokens`, `answer_tokens` where a person may read it; `max_tokens` is
    for every purpose, and comes first. `instructions` stand in every request, after the rules of
    the policy. `others` are asked in place of this one, each for its purposes. Where it is
    `structured`, the schema that a reply is wanted in goes with the request.
    """

    provider: Provider
    control: Control
    temperature: float | None = None
    max_tokens: int | None = None
    thought_tokens: int = 8_000
    answer_tokens: int = 16_000
    budget: Purse = field(default_factory=Budget)
    instructions: str = ""
    others: Mapping[Purpose, "Model"] = field(default_factory=dict)
    structured: bool = True

    def read(
        self,
        reader: Reader,
        messages: Sequence[Message],
        *,
        purpose: Purpose,
        as_json: bool = False,
        stop: Sequence[str] = (),
        reply_schema: dict[str, Any] | None = None,
    ) -> Generator[Event, None, ModelCall]:
        """Yield what `reader` shows of the reply, then the record of the call, and return that.

        Use as `call = yield from model.read(...)`. Raises what `stream` does.
        """
        is_shown = False
        items = self.stream(
            messages,
            purpose=purpose,
            as_json=as_json,
            stop=stop,
            enough=lambda: reader.done,
            is_shown=lambda: is_shown,
            reply_schema=reply_schema,
        )
        for item in items:
            if not isinstance(item, Token):
                if isinstance(item, ModelCalled):
                    if not item.passed_to:
                        yield from reader.finish(is_cut=item.call.is_cut)
                    yield item
                    call = item.call
                continue
            read = reader.think_aloud if item.kind == "reasoning" else reader.feed
            for event in read(item.text):
                is_shown = True
                yield event
        return call

    def complete(
        self,
        messages: Sequence[Message],
        *,
        purpose: Purpose,
        as_json: bool = False,
        reply_schema: dict[str, Any] | None = None,
    ) -> Generator[ModelCalled, None, str]:
        """Return the whole reply text; use as `reply = yield from model.complete(...)`."""
        reply = ""
        items = self.stream(messages, purpose=purpose, as_json=as_json, reply_schema=reply_schema)
        for item in items:
            if isinstance(item, ModelCalled):
                yield item
                reply = item.call.reply
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        *,
        purpose: Purpose,
        as_json: bool = False,
        stop: Sequence[str] = (),
        enough: Callable[[], bool] = lambda: False,
        is_shown: IsShown = not_shown,
        reply_schema: dict[str, Any] | None = None,
        tools: Sequence[ToolSchema] = (),
        tool_choice: str = "auto",
    ) -> Iterator[Said | ModelCalled]:
        """Yield the reply's tokens, and calls where tools are offered, then the record of the call.

        The reply is cut off as soon as `enough` says so, asked after each token. While `is_shown`
        says that nothing of it has been shown, it is read as it comes. The record is yielded for a
        failed or halted call as well, before its error is raised again, or the call is passed on:
        a provider that fails before the first token has its second asked the same. Raises
        OutOfBudget instead of asking when the budget is used up, but for the call in reserve.
        """
        if purpose != RESERVED and self.budget.is_used_up:
            raise OutOfBudget(self.budget.used)
        asked = self.asked(purpose)
        temperature = self.temperature if asked.temperature is None else asked.temperature
        request = ModelRequest(
            purpose=purpose,
            messages=instructed(messages, self.instructions),
            as_json=as_json,
            stop=stop,
            temperature=temperature,
            max_tokens=self._most(purpose),
            reply_schema=reply_schema if self.structured else None,
            tools=tools,
            tool_choice=tool_choice,
        )
        way = asked.provider
        is_passed_on = True
        while is_passed_on:
            answering = way.asked
            call = Call(
                answering,
                self.control,
                request,
                enough=enough,
                is_shown=is_shown,
                is_seconded=way.is_seconded,
            )
            is_passed_on = yield from self._made(call, way, answering)

    def asked(self, purpose: Purpose) -> "Model":
        """Return who is asked for this purpose."""
        return self.others.get(purpose, self)

    def _made(
        self, call: Call, way: Provider, asked: Provider
    ) -> Generator[Said | ModelCalled, None, bool]:
        """Make one call; return whether it is passed on to another provider."""
        try:
            while (yield from call.attempt()):
                pass
        except ProviderError as error:  # while it waited for its slot: there is nothing to record
            if way.pass_on(asked, error):
                return True
            raise
        record, fault = call.record(), call.error
        self.budget.count(record)
        is_passed_on = fault is not None and not call.has_begun and way.pass_on(asked, fault)
        yield ModelCalled(call=record, passed_to=way.name if is_passed_on else "")
        if fault is not None and not is_passed_on:
            raise fault
        return is_passed_on

    def _most(self, purpose: Purpose) -> int:
        """Return how many tokens a reply may have; models that think count their thoughts."""
        by_purpose = self.answer_tokens if purpose in ANSWERS else self.thought_tokens
        asked = self.asked(purpose)
        most = asked.max_tokens or self.max_tokens or by_purpose
        length = asked.provider.context_length
        return most if length is None else max(1, min(most, length // REPLY_SHARE))
